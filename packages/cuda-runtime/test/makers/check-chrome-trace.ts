/** An event of Chrome's Trace Event Format, as far as the rules look at it. */
export interface ChromeTraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly pid: number;
  readonly tid?: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: number;
  readonly bp?: string;
  readonly s?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

// Numbers of the file are microseconds with three digits behind the point.
const halfNs = 0.0005;

/**
 * Perfetto's rules for JSON: known phases with the fields they need; slices of one thread nest and
 * never partly overlap; every flow begins inside a slice and ends at one, not earlier than it
 * began; metadata names each process and thread that is used. Returns what is wrong.
 */
export function chromeTraceFaults(text: string): readonly string[] {
  const { traceEvents } = JSON.parse(text) as { traceEvents: readonly ChromeTraceEvent[] };
  return [
    ...traceEvents.flatMap(fieldFaults),
    ...nameFaults(traceEvents),
    ...nestingFaults(traceEvents),
    ...flowFaults(traceEvents),
  ];
}

/** The events of a trace. */
export function chromeEvents(text: string): readonly ChromeTraceEvent[] {
  return JSON.parse(text).traceEvents;
}

function fieldFaults(event: ChromeTraceEvent): readonly string[] {
  const needs: Readonly<Record<string, readonly (keyof ChromeTraceEvent)[]>> = {
    M: ['args'],
    X: ['tid', 'ts', 'dur', 'cat'],
    s: ['tid', 'ts', 'id', 'cat'],
    f: ['tid', 'ts', 'id', 'cat', 'bp'],
    C: ['ts', 'args'],
    i: ['tid', 'ts', 's'],
  };
  const fields = needs[event.ph];
  if (!fields) return [`unknown phase ${event.ph}`];
  const missing = fields.filter((field) => event[field] === undefined);
  const negative = [event.ts ?? 0, event.dur ?? 0].some((time) => !(time >= 0));
  return [
    ...missing.map((field) => `${event.ph} ${event.name} lacks ${field}`),
    ...(negative ? [`${event.ph} ${event.name} has a negative time`] : []),
    ...(typeof event.pid === 'number' ? [] : [`${event.ph} ${event.name} lacks pid`]),
  ];
}

function nameFaults(events: readonly ChromeTraceEvent[]): readonly string[] {
  const key = ({ pid, tid }: ChromeTraceEvent) => `${pid}/${tid}`;
  const named = (name: string) => events.filter((event) => event.ph === 'M' && event.name === name);
  const threads = new Set(named('thread_name').map(key));
  const sorted = new Set(named('thread_sort_index').map(key));
  const processes = new Set(named('process_name').map(({ pid }) => pid));
  return events
    .filter(({ ph }) => ph === 'X')
    .filter(
      (event) => !threads.has(key(event)) || !sorted.has(key(event)) || !processes.has(event.pid),
    )
    .map((event) => `${event.name} is on a track without a name or sort index`);
}

function nestingFaults(events: readonly ChromeTraceEvent[]): readonly string[] {
  const faults: string[] = [];
  for (const slices of byTrack(events)) {
    const open: { name: string; end: number }[] = [];
    for (const { name, ts = 0, dur = 0 } of slices) {
      while ((open.at(-1)?.end ?? Infinity) <= ts + halfNs) open.pop();
      const outer = open.at(-1);
      if (outer && ts + dur > outer.end + halfNs)
        faults.push(`${name} overlaps ${outer.name} partly`);
      open.push({ name, end: ts + dur });
    }
  }
  return faults;
}

function flowFaults(events: readonly ChromeTraceEvent[]): readonly string[] {
  const starts = new Map(events.filter(({ ph }) => ph === 's').map((event) => [event.id, event]));
  const ends = events.filter(({ ph }) => ph === 'f');
  const faults = [...starts.values(), ...ends]
    .filter(
      (event) => !byTrack(events).some((slices) => slices.some((slice) => holds(slice, event))),
    )
    .map(({ ph, id }) => `${ph} ${id} is outside every slice of its track`);
  for (const end of ends) {
    const start = starts.get(end.id);
    if (!start || start.cat !== end.cat || start.name !== end.name)
      faults.push(`f ${end.id} alone`);
    else if ((start.ts ?? 0) > (end.ts ?? 0)) faults.push(`f ${end.id} ends before it begins`);
  }
  if (starts.size !== ends.length) faults.push(`${starts.size} flow starts, ${ends.length} ends`);
  return faults;
}

function holds(slice: ChromeTraceEvent, { pid, tid, ts = 0 }: ChromeTraceEvent): boolean {
  const { ts: from = 0, dur = 0 } = slice;
  return slice.pid === pid && slice.tid === tid && ts >= from - halfNs && ts <= from + dur + halfNs;
}

function byTrack(events: readonly ChromeTraceEvent[]): readonly (readonly ChromeTraceEvent[])[] {
  const tracks = new Map<string, ChromeTraceEvent[]>();
  for (const event of events.filter(({ ph }) => ph === 'X')) {
    const key = `${event.pid}/${event.tid}`;
    tracks.set(key, [...(tracks.get(key) ?? []), event]);
  }
  return [...tracks.values()].map((slices) =>
    slices.toSorted((a, b) => (a.ts ?? 0) - (b.ts ?? 0) || (b.dur ?? 0) - (a.dur ?? 0)),
  );
}
