import { wrongKind } from '../arguments/faults.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { hostRange } from '../trace/host-ranges.js';

/** What a graph is launched on: a stream. */
export interface LaunchTarget {
  /** @internal */
  submit(api: string): Handle;
}

// An executable keeps the callbacks of its notify nodes as long as it lives.
const heldCallbacks = new WeakMap<GraphExec, object>();

/** A graph that can be launched. Launches of one executable run one after the other. */
export class GraphExec implements Disposable {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #record: NativeRecord;
  readonly #currentStream: () => LaunchTarget;

  /** @internal Made by `graph.instantiate`. */
  constructor(handle: Handle, currentStream: () => LaunchTarget, callbacks: object | undefined) {
    this.#record = new NativeRecord(this, handle, 'graph executable');
    this.#currentStream = currentStream;
    if (callbacks) heldCallbacks.set(this, callbacks);
  }

  /** @internal The native handle. @throws DisposedError */
  use(api: string): Handle {
    return this.#record.use(api);
  }

  /** How often it was launched. */
  get launches(): number {
    return guarded(() =>
      environment().binding.graphExecLaunches(this.#record.use('exec.launches')),
    );
  }

  /** Starts all nodes as one operation of `stream` (default: the current stream). */
  launch(stream: LaunchTarget = this.#currentStream()): this {
    const api = 'graphExec.launch';
    if (typeof stream?.submit !== 'function') throw wrongKind(api, 'stream', stream, 'a stream');
    const { binding } = environment();
    const launch = () => binding.graphLaunch(this.#record.use(api), stream.submit(api));
    hostRange('launch graph', () => guarded(launch));
    return this;
  }

  /** Ends this object; a launch that runs goes on. */
  dispose(): void {
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
