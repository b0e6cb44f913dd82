/** A size after so many requests. */
export interface SizeReading {
  readonly requests: number;
  readonly bytes: number;
}

/**
 * Bytes that each request leaves behind: the median of the slopes between any two of the later half
 * of the readings. A process grows for its first requests, whatever they leave, as its allocators
 * keep what was once in use; and one reading may be high by chance, which the median bears.
 */
export function bytesPerRequest(readings: readonly SizeReading[]): number {
  if (readings.length < 4) throw new Error('growth is told by four readings at least');
  const later = readings.slice(Math.floor(readings.length / 2));
  const slopes = later.flatMap((from, n) =>
    later.slice(n + 1).map((to) => (to.bytes - from.bytes) / (to.requests - from.requests)),
  );
  const sorted = slopes.toSorted((a, b) => a - b);
  const [low, high] = [Math.floor, Math.ceil].map((to) => sorted[to((sorted.length - 1) / 2)] ?? 0);
  return Math.round(((low ?? 0) + (high ?? 0)) / 2);
}
