/** What is summed, widened to fp32. */
export interface ReferenceFinalizeInput {
  readonly expertOut: Float32Array;
  readonly slots: readonly number[];
  readonly weights: Float32Array;
  readonly k: number;
  readonly hidden: number;
  readonly scale: number;
}

/** Step by step in fp32: multiply, round, add, round; so the kernel must give the same bits. */
export function referenceFinalize(
  { expertOut, slots, weights, k, hidden, scale }: ReferenceFinalizeInput,
  round: (value: number) => number,
): number[] {
  const out: number[] = [];
  for (let token = 0; token < slots.length / k; token += 1) {
    for (let c = 0; c < hidden; c += 1) {
      let sum = 0;
      for (let j = token * k; j < (token + 1) * k; j += 1) {
        const row = slots[j] ?? -1;
        if (row < 0) continue;
        const product = Math.fround((weights[j] ?? 0) * (expertOut[row * hidden + c] ?? 0));
        sum = Math.fround(sum + product);
      }
      out.push(round(Math.fround(sum * scale)));
    }
  }
  return out;
}
