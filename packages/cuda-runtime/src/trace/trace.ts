import { wrongKind } from '../arguments/faults.js';
import { checkOptions, type OptionNames } from '../arguments/options.js';
import { ArgumentError } from '../errors/argument-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { notCloneable } from '../threads/not-cloneable.js';
import { type HostRecording, startHostRecording, stopHostRecording } from './host-ranges.js';
import { parseTrace } from './recorded-trace.js';
import { TraceData } from './trace-data.js';

/** Options of `trace.start`. */
export interface TraceOptions {
  /**
   * `graph` (default): each node of a graph is a span. On CUDA launches then use a copy of the
   * graph with events around each node, in which programmatic edges are full ones; the production
   * executable stays as it is. `operations`: a launch of a graph is one span.
   */
  readonly mode?: 'graph' | 'operations';
  /**
   * `backend` (default): exact times of the CPU backend's threads, pairs of events on CUDA.
   * `events`: pairs of events on the CPU backend, too.
   */
  readonly source?: 'backend' | 'events';
}

/** Records when each operation of a runtime ran. Off by default. */
export interface Trace {
  readonly isOn: boolean;
  /**
   * Begins an empty recording of what is submitted from now on. By events it waits for the device's
   * clock: tens of microseconds, 100 ms at most.
   * @throws ArgumentError for unknown options and when it is on, BusyError when the device is
   * silent
   */
  start(options?: TraceOptions): void;
  /**
   * Ends it. Operations still running are not in it: synchronise first.
   * @throws ArgumentError when none is on, DisposedError behind the end of the runtime
   */
  stop(): TraceData;
}

const names: OptionNames<TraceOptions> = { mode: true, source: true };

/** The one implementation of `Trace`. */
export class NativeTrace implements Trace {
  /** @internal Refuses structured clone. */
  readonly cloning = notCloneable;
  readonly #runtime: (api: string) => Handle;
  #host: HostRecording | undefined;

  /** @param runtime its handle for a call. @throws DisposedError */
  constructor(runtime: (api: string) => Handle) {
    this.#runtime = runtime;
  }

  get isOn(): boolean {
    if (!(#host in this)) throw notTheObject('trace.isOn', 'trace');
    return this.#host !== undefined;
  }

  start(options: TraceOptions = {}): void {
    const api = 'trace.start';
    if (!(#host in this)) throw notTheObject(api, 'trace');
    checkOptions(api, 'options', options, names);
    const { mode = 'graph', source = 'backend' } = options;
    if (mode !== 'graph' && mode !== 'operations') {
      throw wrongKind(api, 'mode', mode, 'graph or operations');
    }
    if (source !== 'backend' && source !== 'events') {
      throw wrongKind(api, 'source', source, 'backend or events');
    }
    if (this.#host) throw outOfTurn(api, 'a trace is being recorded', 'Stop it first');
    const runtime = this.#runtime(api);
    const { binding } = environment();
    guarded(() => binding.traceStart(runtime, mode === 'graph', source === 'events'));
    this.#host = startHostRecording();
  }

  stop(): TraceData {
    const api = 'trace.stop';
    if (!(#host in this)) throw notTheObject(api, 'trace');
    const runtime = this.#runtime(api);
    const host = this.#host;
    if (!host) throw outOfTurn(api, 'no trace is being recorded', 'Start one first');
    this.release();
    const text = guarded(() => environment().binding.traceStop(runtime));
    const { spans, flows, memory, ...losses } = parseTrace(text);
    return new TraceData({ spans, flows, memory, losses, ...host });
  }

  /** @internal The runtime ends. */
  release(): void {
    if (this.#host) stopHostRecording(this.#host);
    this.#host = undefined;
  }
}

function outOfTurn(api: string, detail: string, hint: string): ArgumentError {
  return new ArgumentError({ api, detail, hint });
}
