import type { TraceContent, TraceSpan } from './trace-span.js';
import { tracksOf } from './tracks.js';

/** An event of Chrome's Trace Event Format. */
interface ChromeEvent {
  readonly ph: 'M' | 'X' | 's' | 'f' | 'C' | 'i';
  readonly name: string;
  readonly pid: number;
  readonly tid?: number;
  readonly ts?: number;
  readonly [field: string]: unknown;
}

const hostProcess = 1;
const deviceProcess = 2;

/**
 * Chrome's Trace Event Format: a process for the device with a thread for each track, one for the
 * calling threads. Times are microseconds from the first thing that happened. Slices of one thread
 * nest and never partly overlap, as Perfetto demands.
 */
export function toChromeJson(data: TraceContent): string {
  const originNs = firstNs(data);
  const at = (ns: number) => (ns - originNs) / 1000;
  const places = new Map<TraceSpan, number>();
  const tracks = tracksOf(data.spans);
  for (const [track, { spans }] of tracks.entries()) {
    for (const span of spans) places.set(span, track);
  }
  const threads = [...new Set(data.ranges.map(({ thread }) => thread))].toSorted((a, b) => a - b);
  const traceEvents: ChromeEvent[] = [
    ...describeProcess(hostProcess, 'host'),
    ...threads.flatMap((thread, index) =>
      describeThread(hostProcess, thread, index, thread === 0 ? 'main thread' : `worker ${thread}`),
    ),
    ...describeProcess(deviceProcess, 'cuda-runtime'),
    ...tracks.flatMap(({ name }, track) => describeThread(deviceProcess, track, track, name)),
    ...[...places].map(([span, track]) => slice(span, track, at)),
    ...data.ranges.map(({ name, thread, startNs, endNs }) => ({
      ...{ ph: 'X' as const, name, cat: 'host', pid: hostProcess, tid: thread },
      ...{ ts: at(startNs), dur: (endNs - startNs) / 1000 },
    })),
    ...flows(data, places, at),
    ...data.memory.map(({ ns, place, bytes }) => ({
      ...{ ph: 'C' as const, name: `${place} bytes`, pid: deviceProcess, ts: at(ns) },
      args: { bytes },
    })),
    ...data.captures.map(({ phase, stream, captureId, ns }) => ({
      ...{ ph: 'i' as const, name: `capture ${phase}`, cat: 'capture', s: 't' },
      ...{ pid: hostProcess, tid: threads[0] ?? 0, ts: at(ns), args: { stream, captureId } },
    })),
  ];
  return JSON.stringify({ traceEvents, displayTimeUnit: 'ns', otherData: data.losses });
}

function firstNs({ spans, ranges, memory, captures }: TraceContent): number {
  let first = Infinity;
  for (const { startNs } of [...spans, ...ranges]) first = Math.min(first, startNs);
  for (const { ns } of [...memory, ...captures]) first = Math.min(first, ns);
  return Number.isFinite(first) ? first : 0;
}

function describeProcess(pid: number, name: string): readonly ChromeEvent[] {
  return [
    { ph: 'M', name: 'process_name', pid, args: { name } },
    { ph: 'M', name: 'process_sort_index', pid, args: { sort_index: pid } },
  ];
}

function describeThread(
  pid: number,
  tid: number,
  index: number,
  name: string,
): readonly ChromeEvent[] {
  return [
    { ph: 'M', name: 'thread_name', pid, tid, args: { name } },
    { ph: 'M', name: 'thread_sort_index', pid, tid, args: { sort_index: index } },
  ];
}

function slice(span: TraceSpan, track: number, at: (ns: number) => number): ChromeEvent {
  const { name, kind, grid, block, bytes, captureId, node, replay, programmatic } = span;
  return {
    ...{ ph: 'X', name, cat: kind, pid: deviceProcess, tid: track },
    ...{ ts: at(span.startNs), dur: (span.endNs - span.startNs) / 1000 },
    args: {
      ...{ kind, bytes, captureId, nodeId: node, replay, programmatic },
      grid: grid?.join('×'),
      block: block?.join('×'),
    },
  };
}

// An arrow binds to the slice that lies around its time, whose end is outside.
function* flows(
  data: TraceContent,
  places: ReadonlyMap<TraceSpan, number>,
  at: (ns: number) => number,
): Iterable<ChromeEvent> {
  for (const [index, { from, to }] of data.flows.entries()) {
    const common = { name: 'wait', cat: 'wait', id: index + 1, pid: deviceProcess };
    const last = Math.max(from.startNs, Math.min(from.endNs - 1, to.startNs));
    yield { ph: 's', ...common, tid: places.get(from) ?? 0, ts: at(last) };
    yield { ph: 'f', bp: 'e', ...common, tid: places.get(to) ?? 0, ts: at(to.startNs) };
  }
}
