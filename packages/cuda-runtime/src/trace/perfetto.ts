import type { TraceSpan } from './trace-span.js';

const process = 1;

/**
 * Chrome's JSON trace format, which Perfetto and `chrome://tracing` open: one track a stream, a span
 * for each operation and for each graph node. Times are microseconds from the first span.
 */
export function toPerfettoJson(spans: readonly TraceSpan[]): string {
  const streams = [...new Set(spans.map(({ stream }) => stream))];
  const origin = spans.reduce((least, { startNs }) => Math.min(least, startNs), Infinity);
  const names = streams.map((stream, track) => ({
    name: 'thread_name',
    ph: 'M',
    pid: process,
    tid: track,
    args: { name: `stream ${stream}` },
  }));
  const events = spans.map((span) => ({
    name: span.name,
    cat: span.kind,
    ph: 'X',
    pid: process,
    tid: streams.indexOf(span.stream),
    ts: (span.startNs - origin) / 1000,
    dur: (span.endNs - span.startNs) / 1000,
    args: { thread: span.thread, graph: span.graph, node: span.node, launch: span.launch },
  }));
  const title = { name: 'process_name', ph: 'M', pid: process, args: { name: 'cuda-runtime' } };
  return JSON.stringify({ traceEvents: [title, ...names, ...events], displayTimeUnit: 'ns' });
}
