import type { Device, Tensor } from '@altstream/cuda-runtime';
import { checkTensor } from './checks.js';

/** Pairs (token, slot) grouped by local expert. */
export interface Permutation {
  /** [localExperts + 1] i32, first permuted row of each expert; the last entry is the row count. */
  readonly offsets: Tensor;
  /** [tokens · k] i32, permuted row → token · k + slot; −1 behind the last row. */
  readonly rows: Tensor;
  /** [tokens, k] i32, (token, slot) → permuted row; −1 = not local. */
  readonly slots: Tensor;
  /**
   * [maxTiles, 3] i32: expert, first row, rows; (−1, 0, 0) behind the last. Only with `tileRows`.
   */
  readonly tiles?: Tensor;
  /** [1] i32, tiles in use. Only with `tileRows`. */
  readonly tileCount?: Tensor;
}

/** Checks that a permutation is one of `tokens` tokens; returns its local experts. */
export function checkPermutation(
  caller: string,
  { offsets, rows, slots }: Permutation,
  tokens: number,
  place: { readonly device: Device },
): number {
  const i32 = ['i32'] as const;
  const slotsRule = { dtypes: i32, shape: [tokens, null], dimensions: ['tokens', 'k'] };
  checkTensor(caller, 'permutation.slots', slots, slotsRule, place);
  const rowsRule = { dtypes: i32, shape: [slots.elements], dimensions: ['tokens · k'] };
  checkTensor(caller, 'permutation.rows', rows, rowsRule, place);
  const offsetsRule = { dtypes: i32, shape: [null], dimensions: ['localExperts + 1'] };
  checkTensor(caller, 'permutation.offsets', offsets, offsetsRule, place);
  return (offsets.shape[0] ?? 1) - 1;
}
