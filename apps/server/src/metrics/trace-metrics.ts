import { type SpanLoss, spanLosses } from '../traces/lost-spans.js';
import type { MetricMaker } from './metric-maker.js';

/** What became of the spans of requests. */
export class TraceMetrics {
  readonly #lost;

  constructor(own: MetricMaker) {
    this.#lost = own.counter('trace_spans_lost_total', 'Spans that no collector got, and why', {
      cause: spanLosses,
    });
  }

  /** So many were lost. */
  lose(cause: SpanLoss, spans: number): void {
    this.#lost.add(spans, { cause });
  }
}
