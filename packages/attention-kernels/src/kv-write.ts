import {
  type ArgumentChecks,
  dependentConfig,
  type OperationOptions,
  type Tensor,
} from '@altstream/cuda-runtime';
import { activationDTypes, checksOf } from './arguments/checks.js';
import { planKvWrite } from './kv-write.plan.js';
import { attentionKernel } from './module.js';

/** Tensors of `kvWrite`. */
export interface KvWriteInput {
  /** bf16|f32 [tokens, kvHeads, headDim], rows may be apart. */
  readonly k: Tensor;
  /** As k; a view of a fused projection may be given (`headsView`). */
  readonly v: Tensor;
  /** As k, [tokens, 1, indexDim] or [tokens, indexDim]; with `indexKeys` or not at all. */
  readonly indexK?: Tensor | undefined;
  /** i32 [tokens], page · pageTokens + offset; −1 or outside the cache: the token is skipped. */
  readonly slots: Tensor;
  /** [pages, pageTokens, kvHeads, headDim], dtype of k; written. */
  readonly kCache: Tensor;
  /** As kCache; written. */
  readonly vCache: Tensor;
  /** [pages, pageTokens, indexDim], dtype of k; written. */
  readonly indexKeys?: Tensor | undefined;
}

/**
 * Writes the keys, values and index keys of a step into their cache slots. Copies, no arithmetic.
 * Two tokens of one call must not name the same slot.
 *
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/kv-write.md
 */
export function kvWrite(
  input: KvWriteInput,
  options: Pick<OperationOptions, 'stream' | 'programmatic'>,
): void {
  const { stream } = options;
  const { k, v, indexK, slots, kCache, vCache, indexKeys } = input;
  const shape = checkKvWrite(checksOf('kvWrite', stream), input);
  if (shape.tokens === 0 || shape.cacheSlots === 0) return;
  const plan = planKvWrite(shape);
  const kernel = attentionKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    k,
    v,
    index_k: indexK ?? null,
    slots,
    k_cache: kCache,
    v_cache: vCache,
    index_cache: indexKeys ?? null,
    k_stride: k.strides[0] ?? 0,
    v_stride: v.strides[0] ?? 0,
    index_k_stride: indexK?.strides[0] ?? 0,
    cache_slots: shape.cacheSlots,
    tokens: shape.tokens,
    width: shape.width,
    index_dim: shape.indexDim,
  });
}

/**
 * Checks what is written and where, for any operation that writes the cache.
 *
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError
 */
export function checkKvWrite(checks: ArgumentChecks, input: KvWriteInput) {
  const { k, v, indexK, slots, kCache, vCache, indexKeys } = input;
  const dtypes = [k.dtype];
  checks.tensor('k', k, {
    dtypes: activationDTypes,
    shape: ['tokens', 'kvHeads', 'headDim'],
    layout: 'rows',
  });
  const tokens = k.shape[0] ?? 0;
  const kvHeads = checks.size('k', k, 1, 'kvHeads');
  const headDim = checks.size('k', k, 2, 'headDim');
  checks.tensor('v', v, { dtypes, shape: [tokens, kvHeads, headDim], layout: 'rows' });
  checks.tensor('slots', slots, { dtypes: ['i32'], shape: [tokens] });
  checks.tensor('kCache', kCache, { dtypes, shape: ['pages', 'pageTokens', kvHeads, headDim] });
  const [pages = 0, pageTokens = 0] = kCache.shape;
  checks.tensor('vCache', vCache, { dtypes, shape: kCache.shape });
  if ((indexK === undefined) !== (indexKeys === undefined)) {
    const missing = indexK ? 'indexKeys' : 'indexK';
    throw checks.rangeError(
      missing,
      'is missing: give `indexK` and its cache `indexKeys` or none.',
    );
  }
  let indexDim = 0;
  if (indexK && indexKeys) {
    checks.tensor('indexKeys', indexKeys, { dtypes, shape: [pages, pageTokens, 'indexDim'] });
    indexDim = checks.size('indexKeys', indexKeys, 2, 'indexDim');
    const middle = indexK.rank === 3 ? [1] : [];
    const shape = [tokens, ...middle, indexDim];
    checks.tensor('indexK', indexK, { dtypes, shape, layout: 'rows' });
  }
  const dtype = k.dtype === 'f32' ? ('f32' as const) : ('bf16' as const);
  const cacheSlots = pages * pageTokens;
  return { tokens, dtype, cacheSlots, width: kvHeads * headDim, indexDim };
}
