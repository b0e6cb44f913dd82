/** What changes one row of logits. */
export interface ReferenceChanges {
  readonly flags: number;
  readonly counts: ArrayLike<number>;
  readonly repetition: number;
  readonly frequency: number;
  readonly presence: number;
  readonly entries: readonly {
    readonly id: number;
    readonly value: number;
    readonly until: number;
  }[];
  readonly position: number;
}

/** The row as it is drawn from: the steps of docs/adjust-logits.md, each rounded to fp32. */
export function referenceAdjusted(logits: Float32Array, changes: ReferenceChanges): Float32Array {
  const { flags, counts, repetition, frequency, presence, entries, position } = changes;
  const { fround } = Math;
  const adjusted = Float32Array.from(logits);
  if (position < 0) return adjusted;
  if (flags & 1) {
    for (const [id, logit] of logits.entries()) {
      const seen = counts[id] ?? 0;
      const generated = Math.floor(seen / 2);
      if (seen === 0) continue;
      const scaled = fround(logit > 0 ? logit / fround(repetition) : logit * fround(repetition));
      const repeated = fround(fround(frequency) * generated);
      adjusted[id] = generated > 0 ? fround(scaled - repeated) - fround(presence) : scaled;
    }
  }
  if ((flags & 2) === 0) return adjusted;
  const held = entries.filter(({ id, until }) => id >= 0 && id < logits.length && position < until);
  for (const { id, value } of held) {
    if (value !== Number.NEGATIVE_INFINITY) adjusted[id] = (adjusted[id] ?? 0) + fround(value);
  }
  for (const { id, value } of held) {
    if (value === Number.NEGATIVE_INFINITY) adjusted[id] = value;
  }
  return adjusted;
}
