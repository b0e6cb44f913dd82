import { TraceFlags } from '@opentelemetry/api';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';

/** How many spans wait, and what is told of the others. */
export interface QueueBounds {
  /** Spans that wait at most. */
  readonly maxQueueSize: number;
  /** Spans of one body; default: the SDK's. */
  readonly maxExportBatchSize?: number;
  /** A span found no room. */
  readonly onFull: () => void;
}

/**
 * The SDK's batches behind a bound of our own: theirs gives spans up and tells nobody. As many wait
 * in ours as in theirs, so theirs is never full.
 */
export class BoundedProcessor implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #bounds: QueueBounds;
  #waiting = 0;

  constructor(exporter: SpanExporter, { onFull, ...sizes }: QueueBounds) {
    this.#bounds = { onFull, ...sizes };
    this.#batches = new BatchSpanProcessor(
      {
        export: (spans, done) => {
          this.#waiting -= spans.length;
          exporter.export(spans, done);
        },
        forceFlush: async () => exporter.forceFlush?.(),
        shutdown: () => exporter.shutdown(),
      },
      sizes,
    );
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
    if (this.#waiting >= this.#bounds.maxQueueSize) {
      this.#bounds.onFull();
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }
}
