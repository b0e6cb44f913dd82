import { groupBy } from './group-by.js';
import type { TraceSpan } from './trace-span.js';

/** One line of a timeline: spans of a stream that do not overlap, in order of their start. */
export interface Track {
  /**
   * `name#id` of the stream, `graph 7` for nodes that were captured on none; with its sub-track.
   */
  readonly name: string;
  /** What the sub-tracks of one stream share. */
  readonly stream: string;
  readonly spans: readonly TraceSpan[];
}

/**
 * Sorts spans into tracks: `main` first, `alt` second, then the other streams by their id. A stream
 * runs one operation at a time, so it is one track. What overlaps nevertheless goes beside it: a
 * programmatic successor to `… (programmatic)`, nodes of graphs that ran at once, or that were
 * captured on no stream, to lanes (greedy colouring of intervals).
 */
export function tracksOf(spans: readonly TraceSpan[]): readonly Track[] {
  const streams = groupBy(spans, streamOf);
  return [...streams.entries()]
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b) || a.localeCompare(b, 'en', { numeric: true }))
    .flatMap(([stream, members]) => lanesOf(stream, members));
}

function streamOf(span: TraceSpan): string {
  return span.stream || `graph ${span.graph ?? 0}`;
}

function rankOf(stream: string): number {
  const [name = '', id = ''] = stream.split('#');
  if (name === 'main') return -2;
  if (name === 'alt') return -1;
  return id === '' ? Number.MAX_SAFE_INTEGER : Number(id);
}

interface Lane {
  readonly suffix: string;
  readonly spans: TraceSpan[];
  endNs: number;
}

function lanesOf(stream: string, members: readonly TraceSpan[]): readonly Track[] {
  const main: Lane = { suffix: '', spans: [], endNs: -Infinity };
  const programmatic: Lane[] = [];
  const others: Lane[] = [];
  for (const span of members.toSorted((a, b) => a.startNs - b.startNs || a.endNs - b.endNs)) {
    const beside = span.programmatic ? programmatic : others;
    const free = [main, ...beside].find((lane) => lane.endNs <= span.startNs);
    const lane = free ?? newLane(beside, span.programmatic === true);
    lane.spans.push(span);
    lane.endNs = span.endNs;
  }
  return [main, ...programmatic, ...others].map(({ suffix, spans }) => ({
    name: `${stream}${suffix}`,
    stream,
    spans,
  }));
}

function newLane(lanes: Lane[], isProgrammatic: boolean): Lane {
  const number = lanes.length + 1;
  const programmatic = number === 1 ? ' (programmatic)' : ` (programmatic ${number})`;
  const suffix = isProgrammatic ? programmatic : ` (${number + 1})`;
  const lane = { suffix, spans: [], endNs: -Infinity };
  lanes.push(lane);
  return lane;
}
