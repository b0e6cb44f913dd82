import type { Stream } from '@altstream/cuda-runtime';

/** One line of a bench. */
export interface BenchCase {
  /** What is varied, printed and saved. */
  readonly case: Readonly<Record<string, string | number>>;
  /** Bytes that memory must move at least, for the floor. */
  readonly bytes: number;
  /** Multiplications and additions, where they matter. */
  readonly flops?: number;
  /** Uploads inputs; `run` enqueues one call, `check` throws unless what it wrote is right. */
  prepare(stream: Stream): Promise<{ run(): void; check(): Promise<void> }>;
}

/** A measured line; one whose check failed has no time. */
export interface BenchRow {
  readonly case: BenchCase['case'];
  readonly us?: number;
  readonly p95Us?: number;
  readonly floorUs?: number;
  readonly gflops?: number;
  readonly peers?: Readonly<Record<string, number>>;
  readonly right: boolean;
}

/** What a saved bench holds (DESIGN §10). */
export interface BenchResult {
  readonly bench: string;
  readonly device: string;
  readonly commit: string;
  readonly command: string;
  readonly date: string;
  readonly ceilings?: Readonly<Record<string, number>>;
  readonly rows: readonly BenchRow[];
}
