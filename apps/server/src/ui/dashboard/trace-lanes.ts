/** A piece of work on a lane; times in microseconds. */
export interface Slice {
  readonly name: string;
  readonly startUs: number;
  readonly endUs: number;
}

/** What one stream or thread did, in the order of starts. */
export interface Lane {
  readonly process: string;
  readonly name: string;
  readonly slices: readonly Slice[];
}

/** A stretch of time. */
export interface Stretch {
  readonly name: string;
  readonly startUs: number;
  readonly endUs: number;
}

/** A trace as lanes, with the steps that it names. */
export interface TraceLanes {
  /** Those of the device first. */
  readonly lanes: readonly Lane[];
  readonly steps: readonly Stretch[];
}

interface ChromeEvent {
  readonly ph?: unknown;
  readonly name?: unknown;
  readonly pid?: unknown;
  readonly tid?: unknown;
  readonly ts?: unknown;
  readonly dur?: unknown;
  readonly args?: { readonly name?: unknown };
}

/**
 * Reads Chrome's Trace Event Format. Threads of a process called `host` are host lanes; slices of
 * them whose name contains the word step are its steps.
 *
 * @throws Error saying what is wrong with the file
 */
export function parseTrace(text: string): TraceLanes {
  const events = eventsOf(text);
  const names = new Map<string, string>();
  for (const { ph, name, pid, tid, args } of events) {
    if (ph !== 'M' || typeof args?.name !== 'string') continue;
    if (name === 'process_name') names.set(String(pid), args.name);
    if (name === 'thread_name') names.set(`${pid}/${tid}`, args.name);
  }
  const slices = new Map<string, Slice[]>();
  for (const { ph, name, pid, tid, ts, dur } of events) {
    if (ph !== 'X' || typeof ts !== 'number' || typeof dur !== 'number') continue;
    const at = `${pid}/${tid}`;
    const slice = { name: String(name), startUs: ts, endUs: ts + dur };
    slices.set(at, [...(slices.get(at) ?? []), slice]);
  }
  if (slices.size === 0) throw new Error('the trace holds no slices');
  const lanes = [...slices].map(([at, own]): Lane => {
    const process = names.get(at.split('/')[0] ?? '') ?? '';
    const sorted = own.toSorted((a, b) => a.startUs - b.startUs);
    return { process, name: names.get(at) ?? at, slices: sorted };
  });
  const isHost = ({ process }: Lane): boolean => process === 'host';
  const steps = lanes
    .filter(isHost)
    .flatMap((lane) => lane.slices.filter(({ name }) => /\bstep\b/i.test(name)));
  return { lanes: lanes.toSorted((a, b) => Number(isHost(a)) - Number(isHost(b))), steps };
}

/** From the first start to the last end. */
export function wholeTrace({ lanes }: TraceLanes): Stretch {
  let startUs = Number.POSITIVE_INFINITY;
  let endUs = Number.NEGATIVE_INFINITY;
  for (const slice of lanes.flatMap((lane) => lane.slices)) {
    startUs = Math.min(startUs, slice.startUs);
    endUs = Math.max(endUs, slice.endUs);
  }
  return { name: 'whole trace', startUs, endUs };
}

/** Lanes with only what lies in a stretch, cut at its borders; lanes without any are left out. */
export function lanesWithin(lanes: readonly Lane[], { startUs, endUs }: Stretch): readonly Lane[] {
  return lanes
    .map((lane) => ({
      ...lane,
      slices: lane.slices
        .filter((slice) => slice.endUs > startUs && slice.startUs < endUs)
        .map((slice) => ({
          name: slice.name,
          startUs: Math.max(slice.startUs, startUs),
          endUs: Math.min(slice.endUs, endUs),
        })),
    }))
    .filter(({ slices }) => slices.length > 0);
}

/** Time during which at least two of the lanes work, and at least one, in microseconds. */
export function busyTimes(lanes: readonly Lane[]): {
  readonly anyUs: number;
  readonly twoUs: number;
} {
  const borders = lanes
    .flatMap(({ slices }) => union(slices))
    .flatMap(({ startUs, endUs }) => [
      { atUs: startUs, change: 1 },
      { atUs: endUs, change: -1 },
    ])
    .toSorted((a, b) => a.atUs - b.atUs || a.change - b.change);
  let busy = 0;
  let lastUs = 0;
  let anyUs = 0;
  let twoUs = 0;
  for (const { atUs, change } of borders) {
    if (busy > 0) anyUs += atUs - lastUs;
    if (busy > 1) twoUs += atUs - lastUs;
    busy += change;
    lastUs = atUs;
  }
  return { anyUs, twoUs };
}

/** Nested slices of a lane count once. */
function union(slices: readonly Slice[]): { startUs: number; endUs: number }[] {
  const joined: { startUs: number; endUs: number }[] = [];
  for (const { startUs, endUs } of slices) {
    const last = joined.at(-1);
    if (last && startUs <= last.endUs) last.endUs = Math.max(last.endUs, endUs);
    else joined.push({ startUs, endUs });
  }
  return joined;
}

function eventsOf(text: string): readonly ChromeEvent[] {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw new Error(`the trace is no JSON: ${(error as Error).message}`);
  }
  const events = Array.isArray(read) ? read : (read as { traceEvents?: unknown })?.traceEvents;
  if (Array.isArray(events)) {
    return events.filter((event) => typeof event === 'object' && event !== null);
  }
  throw new Error('the file has no `traceEvents`; expected a trace in Chrome’s JSON format');
}
