/** How the weights of a layer are split over the ranks of tensor parallelism. */

import { CheckpointError } from '../errors/index.js';

/** One rank of a tensor-parallel group. `{ rank: 0, size: 1 }` is the whole model. */
export interface TensorParallel {
  readonly rank: number;
  readonly size: number;
}

/** A half-open range of rows, columns or heads. */
export interface Range {
  readonly start: number;
  readonly count: number;
}

/** Checks a rank and returns it; the default is the whole model. */
export function checkTensorParallel({ rank, size }: TensorParallel): TensorParallel {
  const isRank = Number.isInteger(rank) && Number.isInteger(size) && rank >= 0 && rank < size;
  if (isRank) return { rank, size };
  throw new CheckpointError(
    'MODEL_CHECKPOINT_SHARDING',
    `tensor parallelism: rank ${rank} of ${size} is impossible; ranks count from 0 to size - 1`,
    { facts: { rank, size } },
  );
}

/** The equal part of `total` that belongs to a rank. */
export function splitEvenly(what: string, total: number, { rank, size }: TensorParallel): Range {
  if (total % size !== 0) {
    throw new CheckpointError(
      'MODEL_CHECKPOINT_SHARDING',
      `tensor parallelism: ${total} ${what} cannot be split over ${size} ranks; ` +
        `choose a size that divides ${total}`,
      { facts: { what, total, size } },
    );
  }
  const count = total / size;
  return { start: rank * count, count };
}

/**
 * The KV heads of a rank. With more ranks than heads, ranks share a head: each rank holds a copy of
 * the one that its query heads use.
 */
export function splitKvHeads(kvHeads: number, tensorParallel: TensorParallel): Range {
  const { rank, size } = tensorParallel;
  if (size <= kvHeads) return splitEvenly('KV heads', kvHeads, tensorParallel);
  if (size % kvHeads !== 0) {
    throw new CheckpointError(
      'MODEL_CHECKPOINT_SHARDING',
      `tensor parallelism: ${kvHeads} KV heads cannot be copied evenly over ${size} ranks; ` +
        `choose a multiple of ${kvHeads}`,
      { facts: { what: 'KV heads', total: kvHeads, size } },
    );
  }
  return { start: Math.floor((rank * kvHeads) / size), count: 1 };
}

/** The part of `total` that belongs to a rank; parts differ by one at most. */
export function splitNearlyEvenly(total: number, { rank, size }: TensorParallel): Range {
  const start = Math.floor((rank * total) / size);
  return { start, count: Math.floor(((rank + 1) * total) / size) - start };
}
