/** A unit that suits a length of time. */
export interface TimeUnit {
  readonly name: 'ns' | 'µs' | 'ms' | 's';
  readonly ns: number;
}

const units: readonly TimeUnit[] = [
  { name: 's', ns: 1e9 },
  { name: 'ms', ns: 1e6 },
  { name: 'µs', ns: 1e3 },
  { name: 'ns', ns: 1 },
];

/** The largest unit of which `ns` has at least one. */
export function unitOf(ns: number): TimeUnit {
  return units.find((unit) => ns >= unit.ns) ?? { name: 'ns', ns: 1 };
}

/** `12.5 µs`: at most three digits behind the point, no zeros at the end. */
export function formatTime(ns: number, unit: TimeUnit = unitOf(ns)): string {
  return `${Number((ns / unit.ns).toFixed(3))} ${unit.name}`;
}

/** Round times from 0 to `totalNs`, at most `most` steps: 1, 2 or 5 times a power of ten apart. */
export function ticksOf(totalNs: number, most: number): readonly number[] {
  if (totalNs <= 0) return [0];
  const least = totalNs / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least) ?? least;
  const count = Math.floor(totalNs / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
