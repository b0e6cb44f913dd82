// The part of a ragged batch that says where each token's context lies.
import type { ArgumentChecks, Tensor } from '@altstream/cuda-runtime';

/**
 * Which sequence each token belongs to, where it stands in it, and which pages hold its context.
 */
export interface PageBatch {
  /** i32 [sequences, maxPages]; page of block b of a sequence, −1 = none. */
  readonly pageTable: Tensor;
  /** i32 [tokens]; absolute position; −1 = padding row. */
  readonly positions: Tensor;
  /** i32 [tokens]; row of the page table. */
  readonly sequenceIds: Tensor;
}

/** Sizes of the page table. */
export interface PageBatchShape {
  readonly sequences: number;
  readonly maxPages: number;
}

/**
 * Checks the three tensors for a batch of `tokens`.
 *
 * @throws ShapeError, DTypeError, DeviceError
 */
export function checkPageBatch(
  checks: ArgumentChecks,
  { pageTable, positions, sequenceIds }: PageBatch,
  tokens: number,
): PageBatchShape {
  checks.tensor('pageTable', pageTable, { dtypes: ['i32'], shape: ['sequences', 'maxPages'] });
  checks.tensor('positions', positions, { dtypes: ['i32'], shape: [tokens] });
  checks.tensor('sequenceIds', sequenceIds, { dtypes: ['i32'], shape: [tokens] });
  return {
    sequences: pageTable.shape[0] ?? 0,
    maxPages: checks.size('pageTable', pageTable, 1, 'maxPages'),
  };
}
