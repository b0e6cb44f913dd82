import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { toPerfettoJson } from './perfetto.js';
import { timelineSvg } from './timeline-svg.js';
import type { TraceSpan } from './trace-span.js';

/** What ran between `start` and `stop`. */
export class TraceRecording {
  readonly spans: readonly TraceSpan[];

  constructor(spans: readonly TraceSpan[]) {
    this.spans = spans;
  }

  /** Chrome's JSON trace format, for Perfetto. */
  toPerfetto(): string {
    return toPerfettoJson(this.spans);
  }

  /** A self-contained picture, one row a stream. */
  toSvg(): string {
    return timelineSvg(this.spans);
  }
}

/** Records when each operation of a runtime ran. Off by default. */
export interface Trace {
  /** Begins an empty recording. */
  start(): void;
  /** Ends it. Operations still running are not in it: synchronise first. */
  stop(): TraceRecording;
}

/** The one implementation of `Trace`. */
export class NativeTrace implements Trace {
  readonly #runtime: () => Handle;

  constructor(runtime: () => Handle) {
    this.#runtime = runtime;
  }

  start(): void {
    guarded(() => environment().binding.traceEnable(this.#runtime(), true));
  }

  stop(): TraceRecording {
    const { binding } = environment();
    const text = guarded(() => binding.traceTake(this.#runtime()));
    guarded(() => binding.traceEnable(this.#runtime(), false));
    const spans = JSON.parse(text) as readonly TraceSpan[];
    return new TraceRecording(spans.toSorted((a, b) => a.startNs - b.startNs));
  }
}
