import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import { serverVersion } from '../version.js';
import { attributesOf, contentAttributes } from './attributes.js';
import { BoundedProcessor } from './bounded-processor.js';
import { LostSpans, type SpanLoss } from './lost-spans.js';
import { parentOf } from './parent.js';
import type { RequestFacts, RequestTraces } from './request-facts.js';
import { partsOf } from './span-times.js';

/** As many as a request may have pieces. Of too many the SDK drops the oldest. */
const eventCountLimit = 1024;
/**
 * For spans of up to 262,144 characters: so few make no body that is too long for a collector, and
 * at the end the whole queue is sent by fewer exports than the exporter runs at once.
 */
const queueWithContent = { maxExportBatchSize: 16, maxQueueSize: 256 };

/** How spans are made and sent. */
export interface TraceOptions {
  readonly logger: Logger;
  /** Of each span. */
  readonly serviceName: string;
  /** Prompts and answers are sent, too. */
  readonly withContent: boolean;
  /** Spans that wait at most, without content. */
  readonly queueSize: number;
  /** Spans were lost. */
  readonly onLost: (cause: SpanLoss, spans: number) => void;
}

/**
 * Sends a span `llm_request` with its parts for each request, as OTLP over HTTP. Spans are made
 * when a request is over, so nothing of it costs time before; a collector that is slow or away
 * loses them, and nothing else.
 *
 * @param endpoint of a collector; without a path `/v1/traces` is meant
 */
export function otlpTraces(
  endpoint: string,
  { logger, serviceName, withContent, queueSize, onLost }: TraceOptions,
): RequestTraces {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = '/v1/traces';
  const exporter = new OTLPTraceExporter({ url: url.href });
  const told = {
    queue_full: new LostSpans('queue_full', logger),
    export: new LostSpans('export', logger),
  };
  const lose = (cause: SpanLoss, spans: number, error?: Error): void => {
    onLost(cause, spans);
    told[cause].add(spans, error);
  };
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': serverVersion,
    }),
    spanLimits: { eventCountLimit },
    spanProcessors: [
      new BoundedProcessor(
        telling(exporter, (spans, error) => lose('export', spans, error)),
        {
          ...(withContent ? queueWithContent : { maxQueueSize: queueSize }),
          onFull: () => lose('queue_full', 1),
        },
      ),
    ],
  });
  // Not registered: whoever embeds the server has a provider of his own, or wants none.
  const tracer = provider.getTracer('altstream', serverVersion);
  return {
    withContent,
    add: (facts) => addSpans(tracer, facts),
    close: async (mostMs) => {
      const late = new Promise<void>((resolve) => {
        setTimeout(resolve, mostMs).unref();
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      for (const losses of Object.values(told)) losses.close();
    },
  };
}

function addSpans(tracer: ReturnType<NodeTracerProvider['getTracer']>, facts: RequestFacts): void {
  const { startedMs, timing, summary, traceparent, tracestate } = facts;
  const parent = parentOf(traceparent, tracestate);
  const attributes = attributesOf(facts);
  const options = { kind: SpanKind.SERVER, startTime: startedMs, attributes };
  const span = tracer.startSpan('llm_request', options, parent);
  if (!span.isRecording()) return;
  if (facts.content) span.setAttributes(contentAttributes(facts.content()));
  if (summary.code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  const inside = trace.setSpan(parent, span);
  for (const { name, start, end, pieces } of partsOf(facts)) {
    const part = tracer.startSpan(name, { startTime: start }, inside);
    for (const { at, tokens } of pieces) part.addEvent('prefill_chunk', { tokens }, at);
    part.end(end);
  }
  span.end(startedMs + timing.totalMs);
}

/** The exporter, and who is told what it could not send. */
function telling(
  exporter: SpanExporter,
  onFailed: (spans: number, error: Error) => void,
): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) onFailed(spans.length, result.error);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
