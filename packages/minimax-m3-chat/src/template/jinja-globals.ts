import { cutReason } from './cut-reason.js';

/** Thrown by `raise_exception(…)` inside a template. */
export class RaisedByTemplate extends Error {}

const maxRange = 100_000;

/** Names that a template gets besides its messages. A request may not replace them. */
export function jinjaGlobals(now: Date): Record<string, unknown> {
  return {
    true: true,
    false: false,
    none: null,
    True: true,
    False: false,
    None: null,
    raise_exception: (message: unknown) => {
      throw new RaisedByTemplate(cutReason(String(message)));
    },
    range: boundedRange,
    strftime_now: (format: unknown) => formatTime(now, String(format)),
  };
}

/** Python's `range`, bounded: an unbounded one ends the process for want of memory. */
function boundedRange(first: number, stop?: number, step = 1): number[] {
  const [from, to] = stop === undefined ? [0, first] : [first, stop];
  const count = Math.max(0, Math.ceil((to - from) / step));
  if (!Number.isFinite(count) || count > maxRange) {
    throw new Error(`range() of ${count} numbers, at most ${maxRange} are allowed`);
  }
  return Array.from({ length: count }, (_, i) => from + i * step);
}

function formatTime(now: Date, format: string): string {
  const text = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-US', options).format(now);
  const two = (value: number): string => String(value).padStart(2, '0');
  const fields: Record<string, () => string> = {
    Y: () => String(now.getFullYear()),
    m: () => two(now.getMonth() + 1),
    d: () => two(now.getDate()),
    H: () => two(now.getHours()),
    M: () => two(now.getMinutes()),
    S: () => two(now.getSeconds()),
    B: () => text({ month: 'long' }),
    b: () => text({ month: 'short' }),
    A: () => text({ weekday: 'long' }),
    a: () => text({ weekday: 'short' }),
    '%': () => '%',
  };
  return format.replace(/%([a-zA-Z%])/g, (whole, key: string) => fields[key]?.() ?? whole);
}
