import { type Context, createTraceState, ROOT_CONTEXT, trace } from '@opentelemetry/api';

const pattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer ones are nobody's. */
const longest = 512;

/**
 * The span of the client's that a request belongs to; headers that are none count as if they were
 * not there.
 */
export function parentOf(traceparent: string | undefined, tracestate?: string): Context {
  const text = traceparent?.slice(0, longest + 1).trim() ?? '';
  const [, traceId, spanId, flags = '00'] = (text.length <= longest && pattern.exec(text)) || [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const state = tracestate !== undefined && tracestate.length <= longest;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state ? { traceState: createTraceState(tracestate) } : {}),
  });
}
