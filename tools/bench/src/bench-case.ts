import type { Stream } from '@altstream/cuda-runtime';

/** One line of a bench. */
export interface BenchCase {
  /** What is varied, printed and saved. */
  readonly case: Readonly<Record<string, string | number>>;
  /** Bytes that memory must move at least, for the floor and GB/s; left out where nobody knows. */
  readonly bytes?: number;
  /** Multiplications and additions, where they matter. */
  readonly flops?: number;
  /** Tokens that one call answers, where a rate of tokens says more than a time. */
  readonly tokens?: number;
  /** Uploads inputs. */
  prepare(stream: Stream): Promise<PreparedCase>;
}

/** A case whose inputs are on the device. */
export interface PreparedCase {
  /** Enqueues one call. A promise means that the call waits itself, and that is timed too. */
  run(): unknown;
  /** Throws unless what `run` wrote is right. */
  check(): Promise<void>;
  /** Other ways to the same result by name, timed like `run`. */
  readonly peers?: Readonly<Record<string, () => unknown>>;
}

/** A measured line, times in microseconds; one whose check failed has no time. */
export interface BenchRow {
  readonly case: BenchCase['case'];
  /** Median. */
  readonly us?: number;
  readonly p95Us?: number;
  /** Time that moving `bytes` takes at the ceiling. */
  readonly floorUs?: number;
  readonly gbps?: number;
  readonly gflops?: number;
  readonly tokensPerSecond?: number;
  /** Of each of the sequences that run together. */
  readonly tokensPerSecondPerUser?: number;
  /** Time saved against the row that this one is compared with. */
  readonly savedPercent?: number;
  /** What was chosen, where the case leaves it open. */
  readonly way?: string;
  /** What that choice rests on. */
  readonly measured?: Readonly<Record<string, string | number>>;
  /** Timed calls, where the bench counts them itself. */
  readonly samples?: number;
  /** Medians of the peers. */
  readonly peers?: Readonly<Record<string, number>>;
  /** Time of the row over that of its fastest peer. */
  readonly ofPeer?: number;
  /** What the row is held against. */
  readonly target?: BenchTarget;
  readonly right: boolean;
}

/** A number that should not be above another one. */
export interface BenchTarget {
  readonly what: string;
  readonly value: number;
  readonly most: number;
}

/** What a saved bench holds (DESIGN §10). */
export interface BenchResult {
  readonly bench: string;
  /** On the CPU with its level and the threads that the backend used. */
  readonly device: string;
  /** Version of the GPU's driver. */
  readonly driver?: string;
  readonly commit: string;
  /** What to type in the package's folder for the same run. */
  readonly command: string;
  readonly date: string;
  /** One minute's load average at the start of the run. */
  readonly load?: number;
  /** Cores that other processes kept busy while this bench ran. */
  readonly othersBusy?: number;
  /** TB/s that as many threads reached. */
  readonly ceilings?: Readonly<Record<string, number>>;
  /** What all rows share, where that is more than the device. */
  readonly setting?: Readonly<Record<string, unknown>>;
  readonly rows: readonly BenchRow[];
}
