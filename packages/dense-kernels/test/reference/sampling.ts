/** How one row is drawn. */
export interface ReferenceSettings {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

/** A logit that is safe: NaN is −∞, +∞ the largest float. */
export function safeLogit(logit: number): number {
  return Number.isNaN(logit) ? Number.NEGATIVE_INFINITY : Math.min(logit, 3.4028234663852886e38);
}

/** Probability of every id under the settings, in double; zeros where filters removed an id. */
export function referenceDistribution(logits: Float32Array, settings: ReferenceSettings) {
  const { temperature, topK, topP, minP } = settings;
  const safe = Array.from(logits, safeLogit);
  const largest = safe.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (!(temperature > 0)) {
    const best = safe.indexOf(largest);
    return Float64Array.from(safe, (_, id) => (id === best ? 1 : 0));
  }
  const weights = safe.map((logit) =>
    logit === Number.NEGATIVE_INFINITY ? 0 : Math.exp((logit - largest) / temperature),
  );
  let kept = [...safe.keys()].sort((a, b) =>
    safe[a] === safe[b] ? a - b : (safe[b] ?? 0) - (safe[a] ?? 0),
  );
  if (topK > 0) kept = kept.slice(0, topK);
  const weigh = (ids: number[]) => ids.reduce((sum, id) => sum + (weights[id] ?? 0), 0);
  if (topP < 1) {
    const target = topP * weigh(kept);
    let before = 0;
    kept = kept.filter((id, place) => {
      const isKept = place === 0 || before < target;
      before += weights[id] ?? 0;
      return isKept;
    });
  }
  if (minP > 0) kept = kept.filter((id) => (weights[id] ?? 0) >= Math.min(minP, 1));
  const total = weigh(kept);
  const probabilities = new Float64Array(safe.length);
  for (const id of kept) probabilities[id] = (weights[id] ?? 0) / total;
  return probabilities;
}

/** Inverse CDF by ascending id: the first id whose running sum exceeds `unit`. */
export function referenceDraw(probabilities: Float64Array, unit: number): number {
  let running = 0;
  let last = 0;
  for (const [id, probability] of probabilities.entries()) {
    if (probability === 0) continue;
    last = id;
    running += probability;
    if (running > unit) break;
  }
  return last;
}

/** Log-softmax of the raw row at `id`. */
export function referenceLogprob(logits: Float32Array, id: number): number {
  const largest = logits.reduce((a, b) => Math.max(a, safeLogit(b)), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(safeLogit(logit) - largest);
  return safeLogit(logits[id] ?? Number.NaN) - largest - Math.log(sum);
}
