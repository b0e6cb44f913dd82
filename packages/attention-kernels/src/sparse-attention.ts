import type { ArgumentChecks, Tensor } from '@altstream/cuda-runtime';
import {
  type AttentionInput,
  type AttentionOptions,
  checkAttention,
} from './arguments/attention-input.js';
import { checksOf } from './arguments/checks.js';
import { attend, attendShape } from './attend.js';
import { planSparseAttention } from './sparse-attention.plan.js';

/** Tensors of `sparseAttention`. */
export interface SparseAttentionInput extends AttentionInput {
  /** i32 [kvHeads, tokens, topkBlocks] of `selectBlocks`: ascending block ids, −1 at the end. */
  readonly blocks: Tensor;
}

/**
 * Causal attention of each token and KV head to the keys of its own list of blocks; a block is a
 * page. Otherwise as `pagedAttention`, and bit for bit the same when the list has every block.
 *
 * @returns [tokens, heads · headDim], dtype of q
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/sparse-attention.md
 */
export function sparseAttention(input: SparseAttentionInput, options: AttentionOptions): Tensor {
  const { stream, allocator = stream } = options;
  const { blocks } = input;
  const checks = checksOf('sparseAttention', stream);
  const shape = checkAttention(checks, input, options);
  const { tokens, heads, kvHeads, headDim } = shape;
  checkBlocks(checks, blocks, tokens, kvHeads);
  const out =
    options.out ?? allocator.tensor([tokens, heads * headDim], shape.dtype, 'sparseAttention');
  if (tokens === 0) return out;
  const topkBlocks = checks.size('blocks', blocks, 2, 'topkBlocks');
  const mostKeys = topkBlocks * shape.pageTokens;
  const more = { blocks, topk_blocks: topkBlocks };
  const call = { input, shape, out, mostKeys, isCausal: false, more };
  attend(call, planSparseAttention(attendShape(call), stream.device.limits), options);
  return out;
}

function checkBlocks(
  checks: ArgumentChecks,
  blocks: Tensor,
  tokens: number,
  kvHeads: number,
): void {
  if (blocks.rank === 3 && blocks.shape[1] === tokens && blocks.shape[0] !== kvHeads) {
    const detail =
      `has the lists of ${blocks.shape[0]} index heads, but the cache has ${kvHeads} KV heads. ` +
      'MSA selects once per KV head: use as many index heads, do not reduce over them.';
    throw checks.shapeError('blocks', detail);
  }
  checks.tensor('blocks', blocks, { dtypes: ['i32'], shape: [kvHeads, tokens, 'topkBlocks'] });
  checks.size('blocks', blocks, 2, 'topkBlocks');
}
