import {
  type CaptureMode,
  CudaRuntimeError,
  Event,
  type Graph,
  type GraphExec,
  type Runtime,
  type Stream,
} from '../../src/index.js';
import type { TestRuntime } from '../makers/test-kernels.js';
import type { Play } from './table.js';
import { ThreadB } from './thread-b.js';

const modes: Readonly<Record<string, CaptureMode>> = {
  G: 'global',
  T: 'thread_local',
  R: 'relaxed',
};

const threads = new WeakMap<Runtime, ThreadB>();

/** Ends the second thread of a runtime, if a row has needed one. */
export async function endThread(runtime: Runtime): Promise<void> {
  await threads.get(runtime)?.end();
}

/** Thrown by a program that this machine cannot play; the message says why. */
export class NotPlayable extends Error {}

/** Plays one row: the streams and operations of the table under its short names. */
export class Scene {
  readonly test: TestRuntime;
  readonly mode: CaptureMode;
  readonly s1: Stream;
  readonly s2: Stream;
  readonly s3: Stream;
  readonly b1: Stream;
  readonly b2: Stream;
  /** What was seen. */
  readonly got: Record<string, string> = {};
  /** The case that is played. */
  readonly case: string;
  #graph: Graph | undefined;

  constructor(test: TestRuntime, play: Play) {
    this.test = test;
    this.case = play.case;
    this.mode = modes[play.mode] ?? 'thread_local';
    const stream = (name: string, blocking = false) => test.device.createStream({ name, blocking });
    this.s1 = stream('S1');
    this.s2 = stream('S2');
    this.s3 = stream('S3');
    this.b1 = stream('B1', true);
    this.b2 = stream('B2', true);
  }

  get legacy(): Stream {
    return this.test.device.legacyStream;
  }

  /** The graph of the last good end. */
  get graph(): Graph {
    if (this.#graph) return this.#graph;
    throw new Error('no graph was captured');
  }

  /** A second thread, the same for all rows of a runtime; ready, since its start is unsafe. */
  async threadB(): Promise<ThreadB> {
    const known = threads.get(this.test.runtime) ?? (await this.newThread());
    threads.set(this.test.runtime, known);
    return known;
  }

  /** A second thread of its own. */
  newThread(): Promise<ThreadB> {
    const { runtime } = this.test;
    return ThreadB.start({ backend: runtime.backend, guards: runtime.describe().guards });
  }

  /** Ends what a program that failed has left capturing, which would disturb the next ones. */
  abort(): void {
    for (const stream of [this.s1, this.s2, this.s3, this.b1, this.b2]) {
      if (!stream.isDisposed && stream.captureStatus !== 'none') stream.abortCapture();
    }
  }

  is(name: string): boolean {
    return this.case === name;
  }

  put(key: string, value: string | number): void {
    this.got[key] = String(value);
  }

  /** The CUDA number that a call answers; 0 when it succeeds. */
  number(call: () => unknown): number | string {
    try {
      call();
      return 0;
    } catch (error) {
      if (CudaRuntimeError.isInstance(error)) return error.cuda?.number ?? error.code;
      throw error;
    }
  }

  begin(stream: Stream = this.s1): void {
    stream.beginCapture({ mode: this.mode });
  }

  /** What ending a capture gives: `ok nodes/edges`, or a number. */
  end(stream: Stream = this.s1): string {
    const number = this.number(() => {
      this.#graph = stream.endCapture();
    });
    return number === 0 ? shapeOf(this.graph) : String(number);
  }

  /** N, A or I. */
  status(stream: Stream = this.s1): string {
    return { none: 'N', active: 'A', invalidated: 'I' }[stream.captureStatus];
  }

  /** Puts `after` and `end` of a capture on S1. */
  finish(origin = this.s1): void {
    this.put('after', this.status(origin));
    this.put('end', this.end(origin));
  }

  /** Begins on S1, makes the call, puts `call`, `after` and `end`. */
  during(call: () => unknown, origin = this.s1): void {
    this.begin(origin);
    this.put('call', this.number(call));
    this.finish(origin);
  }

  /** A kernel launch. */
  k(stream: Stream = this.s1): void {
    stream.launch(this.test.kernels.empty, { grid: [1], block: [1] }, { tag: 0 });
  }

  /** A kernel that runs for a while. */
  spin(stream: Stream, milliseconds: number): void {
    const params = { done: null, microseconds: milliseconds * 1000 };
    stream.launch(this.test.kernels.spin, { grid: [1], block: [1] }, params);
  }

  event(timing = false): Event {
    return this.test.device.createEvent({ timing });
  }

  /** Fork or join by an event, as in the table. */
  link(from: Stream, to: Stream): void {
    to.wait(from.record());
  }

  /** S1 began, K(S1), fork to S2, K(S2), joined. */
  forkAndJoin(): void {
    this.begin();
    this.k();
    this.link(this.s1, this.s2);
    this.k(this.s2);
    this.link(this.s2, this.s1);
  }

  /** S1 began, S2 took part, and ending on it broke the capture, which no guard prevents. */
  breakCapture(): void {
    this.breakCaptureAfter(() => undefined);
  }

  /** The same, after something was recorded. */
  breakCaptureAfter(record: () => void): void {
    this.begin();
    record();
    this.link(this.s1, this.s2);
    this.end(this.s2);
  }

  /** Launches the graph of the last `end`. */
  launch(stream = this.s1): GraphExec {
    const executable = this.graph.instantiateSync();
    executable.launch(stream);
    return executable;
  }

  /** Milliseconds from one event to the other. */
  elapsed(from: Event, to: Event): number {
    return Event.elapsedMs(from, to);
  }

  /** Puts `usable`: yes, or the stream that does not work any more. */
  async putUsable(): Promise<void> {
    let usable = 'yes';
    for (const stream of [this.s1, this.s2, this.s3, this.b1, this.b2]) {
      if (stream.isDisposed) continue;
      const number = this.number(() => this.k(stream));
      await stream.synchronize({ timeoutMs: 5000 });
      if (number !== 0 || this.status(stream) !== 'N') usable = `${stream.name} ${number}`;
      stream.dispose();
    }
    this.put('usable', usable);
  }
}

/** `ok nodes/edges` */
export function shapeOf(graph: Graph): string {
  return `ok ${graph.nodes.length}/${graph.edges.length}`;
}

/** Kinds of all nodes in their order. */
export function kindsOf(graph: Graph): string {
  return graph.nodes.map(({ kind }) => kind).join(' ');
}

/** Annotations of all edges, in the order of the nodes they lead to. */
export function edgesOf(graph: Graph): string {
  const ports = ['completion', 'programmatic', 'launch'];
  const edges = [...graph.edges].sort((a, b) => a.to - b.to);
  return edges.map(({ type, port }) => `${type} ${ports.indexOf(port)}`).join(', ');
}
