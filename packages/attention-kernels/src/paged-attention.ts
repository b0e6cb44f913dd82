import type { Tensor } from '@altstream/cuda-runtime';
import {
  type AttentionInput,
  type AttentionOptions,
  checkAttention,
} from './arguments/attention-input.js';
import { checksOf } from './arguments/checks.js';
import { attend, attendShape } from './attend.js';
import { planPagedAttention } from './paged-attention.plan.js';

/**
 * Causal grouped-query attention over a paged cache. A query at position p attends the keys 0 … p
 * of its sequence; blocks without a page are skipped; padding rows give 0. Scores, softmax and sums
 * are fp32, one rounding at the output.
 *
 * Prefill chunks, decode steps and mixtures are the same call: a token's result does not depend on
 * the batch, the chunk or the threads, bit for bit. The step's own keys must be in the cache.
 *
 * @returns [tokens, heads · headDim], dtype of q
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/paged-attention.md
 */
export function pagedAttention(input: AttentionInput, options: AttentionOptions): Tensor {
  const { stream, allocator = stream } = options;
  const shape = checkAttention(checksOf('pagedAttention', stream), input, options);
  const { tokens, heads, headDim } = shape;
  const out =
    options.out ?? allocator.tensor([tokens, heads * headDim], shape.dtype, 'pagedAttention');
  if (tokens === 0) return out;
  const mostKeys = shape.maxPages * shape.pageTokens;
  const call = { input, shape, out, mostKeys, isCausal: true, more: {} };
  attend(call, planPagedAttention(attendShape(call), stream.device.limits), options);
  return out;
}
