import { expect } from 'vitest';
import { CudaRuntimeError, type Event, type Graph, type Stream } from '../../src/index.js';
import { spin, type TestRuntime } from '../makers/test-kernels.js';

/** One row of the table of the specification, 3.3. */
export interface Row {
  readonly id: string;
  readonly title: string;
  run(scene: Scene): void | Promise<void>;
}

/** The names of the table: streams S1, S2, S3, operations K, rec, wait, and the answers. */
export class Scene {
  readonly test: TestRuntime;
  readonly isGuarded: boolean;
  readonly s1: Stream;
  readonly s2: Stream;
  readonly s3: Stream;
  graph: Graph | undefined;

  constructor(test: TestRuntime, isGuarded: boolean) {
    this.test = test;
    this.isGuarded = isGuarded;
    this.s1 = test.device.createStream({ name: 'S1' });
    this.s2 = test.device.createStream({ name: 'S2' });
    this.s3 = test.device.createStream({ name: 'S3' });
  }

  /** A kernel launch. */
  k(stream: Stream): void {
    stream.launch(this.test.kernels.empty, { grid: [1], block: [1] }, { tag: 0 });
  }

  /** A kernel that runs long enough to be seen running. */
  long(stream: Stream, milliseconds = 100): void {
    spin(this.test, stream, milliseconds);
  }

  event(timing = false): Event {
    return this.test.device.createEvent({ timing });
  }

  /** The CUDA number that a call answers; 0 when it succeeds. */
  number(call: () => unknown): number {
    try {
      call();
      return 0;
    } catch (error) {
      if (CudaRuntimeError.isInstance(error)) return error.cuda?.number ?? -1;
      throw error;
    }
  }

  /** What ending the capture gives: `ok nodes/edges`, or a number. */
  end(stream: Stream): string {
    const number = this.number(() => {
      this.graph = stream.endCapture();
    });
    if (number !== 0) return String(number);
    return `ok ${this.graph?.nodes.length}/${this.graph?.edges.length}`;
  }

  /** Fork and join by events, as in the table. */
  link(from: Stream, to: Stream): void {
    to.wait(from.record());
  }

  /** Raw: the capture is broken and ends with 901. Guarded: it is intact. */
  expectRefused(stream: Stream, ifIntact: string): void {
    expect(stream.captureStatus).toBe(this.isGuarded ? 'active' : 'invalidated');
    expect(this.end(stream)).toBe(this.isGuarded ? ifIntact : '901');
  }

  /** Launches the graph of the last `end` and waits for it. */
  async replay(stream = this.s1): Promise<void> {
    if (!this.graph) throw new Error('no graph was captured');
    const executable = this.graph.instantiateSync();
    executable.launch(stream);
    await stream.synchronize();
    executable.dispose();
  }

  /** Every stream works after the capture; asserted for each row. */
  async expectUsable(): Promise<void> {
    for (const stream of [this.s1, this.s2, this.s3]) {
      if (stream.isDisposed) continue;
      expect(stream.captureStatus).toBe('none');
      this.k(stream);
      await stream.synchronize({ timeoutMs: 5000 });
      stream.dispose();
    }
  }
}
