import { groupBy } from './group-by.js';
import type { MemorySample, TraceFlow, TraceLosses, TraceSpan } from './trace-span.js';

/** What the native side recorded, with waits resolved to spans. */
export interface RecordedTrace extends TraceLosses {
  readonly spans: readonly TraceSpan[];
  readonly flows: readonly TraceFlow[];
  readonly memory: readonly MemorySample[];
}

interface NativeTraceJson extends TraceLosses {
  readonly spans: readonly TraceSpan[];
  /** Pairs of operations, one behind the other. */
  readonly flows: readonly number[];
  /** Edges between nodes of different streams, as pairs. */
  readonly graphs: readonly { readonly id: number; readonly edges: readonly number[] }[];
  readonly memory: readonly MemorySample[];
}

/** Reads `traceStop`'s text; spans come out in order of their start, outer before inner. */
export function parseTrace(text: string): RecordedTrace {
  const json = JSON.parse(text) as NativeTraceJson;
  const spans = json.spans.toSorted((a, b) => a.startNs - b.startNs || b.endNs - a.endNs);
  const flows = [...flowsOfOperations(spans, json.flows), ...flowsOfGraphs(spans, json.graphs)];
  const { memory, runningAtStop, untracedLaunches, driftNs } = json;
  return {
    spans,
    flows: flows.filter(({ from, to }) => from.stream !== to.stream),
    memory,
    runningAtStop,
    untracedLaunches,
    driftNs: driftNs ?? null,
  };
}

// A launch of a graph is many spans: a wait leads from the one that ended last to the first.
function* flowsOfOperations(
  spans: readonly TraceSpan[],
  pairs: readonly number[],
): Iterable<TraceFlow> {
  const first = new Map<number, TraceSpan>();
  const last = new Map<number, TraceSpan>();
  for (const span of spans) {
    if (!first.has(span.operation)) first.set(span.operation, span);
    const known = last.get(span.operation);
    if (!known || span.endNs >= known.endNs) last.set(span.operation, span);
  }
  for (const [source, target] of inPairs(pairs)) {
    const from = last.get(source);
    const to = first.get(target);
    if (from && to) yield { from, to };
  }
}

function* flowsOfGraphs(
  spans: readonly TraceSpan[],
  graphs: NativeTraceJson['graphs'],
): Iterable<TraceFlow> {
  const edges = new Map(graphs.map((graph) => [graph.id, graph.edges]));
  const launches = groupBy(
    spans.filter(({ node }) => node !== undefined),
    ({ operation }) => operation,
  );
  for (const nodes of launches.values()) {
    const byId = new Map(nodes.map((span) => [span.node, span]));
    for (const [source, target] of inPairs(edges.get(nodes[0]?.graph ?? 0) ?? [])) {
      const from = byId.get(source);
      const to = byId.get(target);
      if (from && to) yield { from, to };
    }
  }
}

function* inPairs(flat: readonly number[]): Iterable<readonly [number, number]> {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [flat[at] ?? 0, flat[at + 1] ?? 0];
}
