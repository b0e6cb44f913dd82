/** How a token is drawn. */
export interface DrawSettings {
  readonly temperature?: number | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
  readonly minP?: number | undefined;
  /** Ids that may come; undefined = all. */
  readonly allowed?: readonly number[] | undefined;
}

const { fround } = Math;

/** How far a log-probability in f32 may be from that: half an ulp, and sums in another order. */
export function logprobTolerance(value: number): number {
  return 1e-6 + Math.abs(value) * 2 ** -24;
}

/**
 * Log-probability of each id under the settings, by a whole sort and in double but for what the
 * sampling kernel rounds to f32: −Infinity for what cannot be drawn, NaN for all if nothing can.
 */
export function drawnLogprobs(logits: Float32Array, settings: DrawSettings): number[] {
  const { temperature = 1, topK = 0, topP = 1, minP = 0, allowed } = settings;
  const safe = Array.from(logits, (logit, id) => {
    const isPossible = !Number.isNaN(logit) && (allowed?.includes(id) ?? true);
    return isPossible ? Math.min(logit, 3.4028234663852886e38) : Number.NEGATIVE_INFINITY;
  });
  const ranked = [...safe.keys()]
    .filter((id) => at(safe, id) > Number.NEGATIVE_INFINITY)
    .sort((a, b) => at(safe, b) - at(safe, a) || a - b);
  if (ranked.length === 0) return safe.map(() => Number.NaN);
  const largest = at(safe, ranked[0] ?? 0);
  const isGreedy = fround(temperature) <= 0;
  const divisor = isGreedy ? 1 : fround(temperature);
  const scaled = safe.map((logit) => fround(fround(logit - largest) / divisor));
  const weightOf = (id: number) => fround(Math.exp(at(scaled, id)));
  let kept = ranked;
  if (!isGreedy) {
    if (topK > 0) kept = kept.slice(0, topK);
    if (fround(topP) < 1) kept = untilShare(kept, fround(topP), weightOf);
    if (minP > 0) kept = kept.filter((id) => weightOf(id) >= fround(minP));
  }
  const logSum = Math.log(kept.reduce((sum, id) => sum + Math.exp(at(scaled, id)), 0));
  const left = new Set(kept);
  return scaled.map((value, id) => (left.has(id) ? value - logSum : Number.NEGATIVE_INFINITY));
}

/** The likeliest of the ranked ids, until they have a share of all their weight. */
function untilShare(
  ranked: readonly number[],
  share: number,
  weightOf: (id: number) => number,
): number[] {
  const target = share * ranked.reduce((sum, id) => sum + weightOf(id), 0);
  let before = 0;
  return ranked.filter((id, place) => {
    const isKept = place === 0 || before < target;
    before += weightOf(id);
    return isKept;
  });
}

const at = (values: readonly number[], id: number): number => values[id] ?? Number.NaN;
