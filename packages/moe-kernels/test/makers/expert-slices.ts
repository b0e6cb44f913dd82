import type { WeightBits } from './experts.js';

/** Experts [first, end) of a weight. */
export function sliceExperts(bits: WeightBits, first: number, end: number): WeightBits {
  const [experts, rows, columns] = bits.shape;
  const [perExpert, scalesPerExpert] = [rows * columns, (rows * columns) / 32];
  const scales = bits.scales?.subarray(first * scalesPerExpert, end * scalesPerExpert);
  return {
    ...bits,
    shape: [Math.min(experts, end) - first, rows, columns],
    data: bits.data.subarray(first * perExpert, end * perExpert),
    ...(scales ? { scales } : {}),
  };
}

/** Moves expert e to place names[e]. */
export function renameExperts(bits: WeightBits, names: readonly number[]): WeightBits {
  const copy = { ...bits, data: bits.data.slice(), scales: Uint8Array.from(bits.scales ?? []) };
  names.forEach((to, from) => {
    const expert = sliceExperts(bits, from, from + 1);
    copy.data.set(expert.data, to * expert.data.length);
    if (expert.scales) copy.scales.set(expert.scales, to * expert.scales.length);
  });
  return copy;
}

/** Scale 255: every element of these experts is NaN. */
export function breakExperts(bits: WeightBits, broken: readonly number[]): WeightBits {
  const scales = Uint8Array.from(bits.scales ?? []);
  const perExpert = scales.length / bits.shape[0];
  for (const expert of broken) scales.fill(255, expert * perExpert, (expert + 1) * perExpert);
  return { ...bits, scales };
}
