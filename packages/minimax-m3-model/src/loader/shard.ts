/**
 * How weights are split over the ranks of tensor parallelism. Every size works: where it does not
 * divide evenly the first ranks have one unit more, and a rank may be left with nothing.
 */

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

/** The heads of a rank; each of its KV heads serves equally many of its query heads. */
export interface HeadParts {
  readonly queryHeads: Range;
  /** Also the index heads of sparse layers. With more ranks than KV heads, ranks hold copies. */
  readonly kvHeads: Range;
}

/** What a rank holds of the weights that are split. Norms and routers are whole everywhere. */
export interface RankPart extends HeadParts {
  /** Tokens whose logits the rank computes. */
  readonly vocab: Range;
  /** Rows of the embedding table. */
  readonly embedding: Range;
  /** Hidden units of MLPs; more than one range when layers are stored in different ways. */
  readonly denseColumns: readonly Range[];
  readonly expertColumns: readonly Range[];
  readonly sharedColumns: readonly Range[];
}

/**
 * Checks a rank and returns it.
 *
 * @throws CheckpointError `MODEL_CHECKPOINT_SHARDING`
 */
export function checkTensorParallel({ rank, size }: TensorParallel): TensorParallel {
  const isRank = Number.isSafeInteger(rank) && Number.isSafeInteger(size);
  if (isRank && rank >= 0 && rank < size) return { rank, size };
  throw new CheckpointError(
    'MODEL_CHECKPOINT_SHARDING',
    `tensor parallelism: rank ${rank} of ${size} is impossible; ranks count from 0 to size - 1`,
    { facts: { rank, size } },
  );
}

/**
 * The part of `total` that belongs to a rank, in whole units; the first ranks have one unit more.
 *
 * @param unit what must stay together; the last unit may be shorter
 */
export function splitUnits(total: number, { rank, size }: TensorParallel, unit = 1): Range {
  const units = Math.ceil(total / unit);
  const each = Math.floor(units / size);
  const first = rank * each + Math.min(rank, units % size);
  const isLonger = rank < units % size;
  const start = Math.min(total, first * unit);
  const end = Math.min(total, (first + each + (isLonger ? 1 : 0)) * unit);
  return { start, count: end - start };
}

/**
 * The heads of a rank. Up to as many ranks as KV heads: whole groups, a KV head with all of its
 * query heads. More: the ranks are dealt out to the KV heads, and those of one KV head copy it and
 * split its query heads. So a rank never has a part of a group beside another group, which
 * attention could not express; a rank without a query head has no KV head either.
 */
export function splitHeads(
  { heads, kvHeads }: { readonly heads: number; readonly kvHeads: number },
  tensorParallel: TensorParallel,
): HeadParts {
  const group = heads / kvHeads;
  const { rank, size } = tensorParallel;
  if (size <= kvHeads) {
    const part = splitUnits(kvHeads, tensorParallel);
    return { kvHeads: part, queryHeads: times(part, group) };
  }
  const each = Math.floor(size / kvHeads);
  const longer = size % kvHeads;
  // The first `longer` KV heads have one rank more.
  const ofLonger = longer * (each + 1);
  const isLonger = rank < ofLonger;
  const ranks = isLonger ? each + 1 : each;
  const kvHead = isLonger
    ? Math.floor(rank / ranks)
    : longer + Math.floor((rank - ofLonger) / ranks);
  const place = isLonger ? rank % ranks : (rank - ofLonger) % ranks;
  const part = splitUnits(group, { rank: place, size: ranks });
  return {
    kvHeads: { start: kvHead, count: part.count > 0 ? 1 : 0 },
    queryHeads: { start: kvHead * group + part.start, count: part.count },
  };
}

/** A range of groups as a range of their members. */
export function times({ start, count }: Range, factor: number): Range {
  return { start: start * factor, count: count * factor };
}
