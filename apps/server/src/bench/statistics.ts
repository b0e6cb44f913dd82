/** The mean; NaN of nothing. */
export function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

/** The sum; 0 of nothing. */
export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Standard deviation of the values themselves, as numpy's `std`; NaN of nothing. */
export function deviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}

/**
 * The value below which `percent` of the values lie, between neighbours as numpy's `percentile`.
 *
 * @param ascending sorted values
 * @returns NaN of nothing
 */
export function percentileOf(ascending: readonly number[], percent: number): number {
  const place = (percent / 100) * (ascending.length - 1);
  const below = ascending[Math.floor(place)] ?? Number.NaN;
  const above = ascending[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
