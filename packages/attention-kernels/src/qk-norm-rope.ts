import {
  type ArgumentChecks,
  dependentConfig,
  type OperationOptions,
  type Tensor,
} from '@altstream/cuda-runtime';
import { activationDTypes, checksOf, maxHeadDim } from './arguments/checks.js';
import { checkKvWrite } from './kv-write.js';
import { attentionKernel } from './module.js';
import { planQkNormRope } from './qk-norm-rope.plan.js';

/** Tensors of `qkNormRope`. Inputs may be views of one fused projection (`headsView`). */
export interface QkNormRopeInput {
  /** bf16|f32 [tokens, heads, headDim], rows may be apart. */
  readonly q: Tensor;
  /** As q, [tokens, kvHeads, headDim]. */
  readonly k: Tensor;
  /** As q, [tokens, indexHeads, indexDim]; with `indexK` or not at all. */
  readonly indexQ?: Tensor | undefined;
  /** As q, [tokens, 1, indexDim]. */
  readonly indexK?: Tensor | undefined;
  /** bf16|f32 [headDim], used as 1 + w; none: q is rotated but not normed. */
  readonly qWeight?: Tensor | undefined;
  /** bf16|f32 [headDim]. All weights of a call have one dtype. */
  readonly kWeight?: Tensor | undefined;
  /** bf16|f32 [indexDim]. */
  readonly indexQWeight?: Tensor | undefined;
  /** bf16|f32 [indexDim]. */
  readonly indexKWeight?: Tensor | undefined;
  /** i32 [tokens], absolute; −1 = padding row, its outputs are zero. */
  readonly positions: Tensor;
}

/** The cache that `qkNormRope` also writes, as `kvWrite` would write its results. */
export interface QkNormRopeCache {
  /** As k; goes to the cache as it is. */
  readonly v: Tensor;
  /** i32 [tokens], page · pageTokens + offset; −1 or outside the cache: the token is skipped. */
  readonly slots: Tensor;
  /** [pages, pageTokens, kvHeads, headDim], dtype of k; written. */
  readonly kCache: Tensor;
  /** As kCache; written. */
  readonly vCache: Tensor;
  /** [pages, pageTokens, indexDim], dtype of k; written. With an index pair, or not at all. */
  readonly indexKeys?: Tensor | undefined;
}

/** Numbers of `qkNormRope`. */
export interface QkNormRopeOptions extends OperationOptions {
  /** Even; first dims of every head that are rotated; 0 = none. */
  readonly rotaryDim: number;
  /** Base of the rotation frequencies; 5e6 for MiniMax-M3. */
  readonly theta: number;
  /** Added to the mean square; default 1e-6. */
  readonly eps?: number;
  /** Written in the same launch; default: nothing is. Two tokens must not name the same slot. */
  readonly cache?: QkNormRopeCache | undefined;
}

/** Outputs of `qkNormRope`: contiguous, shapes and dtype of the inputs. */
export interface QkNormRopeResult {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly indexQ?: Tensor;
  readonly indexK?: Tensor;
}

/**
 * Norms each head, then rotates its first `rotaryDim` dims by its position:
 *
 *     n = x · (1 + w) / sqrt(mean(x²) + eps)
 *     θ = position · theta^(−2i / rotaryDim)                  both factors and the product in fp32
 *     o[i] = n[i] cos θ − n[i + r/2] sin θ,  o[i + r/2] = n[i + r/2] cos θ + n[i] sin θ
 *
 * fp32 inside, one rounding at the output. One launch for q, k and the index pair, and for their
 * cache if there is one.
 *
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/qk-norm-rope.md
 */
export function qkNormRope(input: QkNormRopeInput, options: QkNormRopeOptions): QkNormRopeResult {
  const { stream, allocator = stream, rotaryDim, theta, eps = 1e-6, cache } = options;
  const shape = checkQkNormRope(input, options);
  const { q, k, indexQ, indexK } = input;
  const like = (from: Tensor, label: string) => allocator.tensor(from.shape, from.dtype, label);
  const outputs = {
    q: like(q, 'q'),
    k: like(k, 'k'),
    ...(indexQ && indexK && { indexQ: like(indexQ, 'indexQ'), indexK: like(indexK, 'indexK') }),
  };
  if (shape.tokens === 0) return outputs;
  const { positions, ...read } = input;
  const { slots = null, ...written } = cache ?? {};
  const tensors: (Tensor | undefined)[] = [read, written, outputs].flatMap(Object.values);
  const isAligned = tensors.every((tensor) => !tensor || rowsAreAligned(tensor));
  const wanted = { ...shape, rotaryDim, hasCache: cache !== undefined, isAligned };
  const plan = planQkNormRope(wanted, stream.device.limits);
  const kernel = attentionKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    q,
    k,
    index_q: indexQ ?? null,
    index_k: indexK ?? null,
    q_weight: input.qWeight ?? null,
    k_weight: input.kWeight ?? null,
    index_q_weight: input.indexQWeight ?? null,
    index_k_weight: input.indexKWeight ?? null,
    positions,
    q_out: outputs.q,
    k_out: outputs.k,
    index_q_out: outputs.indexQ ?? null,
    index_k_out: outputs.indexK ?? null,
    v: cache?.v ?? null,
    slots,
    k_cache: cache?.kCache ?? null,
    v_cache: cache?.vCache ?? null,
    index_cache: cache?.indexKeys ?? null,
    q_stride: q.strides[0] ?? 0,
    k_stride: k.strides[0] ?? 0,
    index_q_stride: indexQ?.strides[0] ?? 0,
    index_k_stride: indexK?.strides[0] ?? 0,
    v_stride: cache?.v.strides[0] ?? 0,
    cache_slots: shape.cacheSlots,
    tokens: shape.tokens,
    heads: shape.heads,
    kv_heads: shape.kvHeads,
    head_dim: shape.headDim,
    index_heads: shape.indexHeads,
    index_dim: shape.indexDim,
    rotary_dim: rotaryDim,
    weights_f32: Number(shape.weightDType === 'f32'),
    theta,
    log2_theta: Math.log2(Math.fround(theta)),
    eps,
  });
  return outputs;
}

/**
 * Whether a tensor begins at a multiple of 16 bytes, and its rows at multiples of eight elements.
 */
function rowsAreAligned({ byteOffset, rank, strides }: Tensor): boolean {
  return byteOffset % 16 === 0 && (rank === 1 || (strides[0] ?? 0) % 8 === 0);
}

function checkQkNormRope(input: QkNormRopeInput, options: QkNormRopeOptions) {
  const { q, k, indexQ, indexK, positions } = input;
  const checks = checksOf('qkNormRope', options.stream);
  const like = { dtypes: [q.dtype], layout: 'rows' } as const;
  checks.tensor('q', q, {
    dtypes: activationDTypes,
    shape: ['tokens', 'heads', 'headDim'],
    layout: 'rows',
  });
  const tokens = q.shape[0] ?? 0;
  const heads = checks.size('q', q, 1, 'heads');
  const headDim = checks.size('q', q, 2, 'headDim');
  checks.tensor('k', k, { ...like, shape: [tokens, 'kvHeads', headDim] });
  const kvHeads = checks.size('k', k, 1, 'kvHeads');
  checks.tensor('positions', positions, { dtypes: ['i32'], shape: [tokens] });
  if ((indexQ === undefined) !== (indexK === undefined)) {
    const missing = indexQ ? 'indexK' : 'indexQ';
    throw checks.rangeError(missing, 'is missing: give both tensors of the index pair or none.');
  }
  if (indexQ && indexK) {
    checks.tensor('indexQ', indexQ, { ...like, shape: [tokens, 'indexHeads', 'indexDim'] });
    checks.tensor('indexK', indexK, { ...like, shape: [tokens, 1, indexQ.shape[2] ?? 0] });
  }
  const indexHeads = indexQ ? checks.size('indexQ', indexQ, 1, 'indexHeads') : 0;
  const indexDim = indexQ ? checks.size('indexQ', indexQ, 2, 'indexDim') : 0;
  checks.whole('headDim', headDim, 1, maxHeadDim);
  if (indexQ) checks.whole('indexDim', indexDim, 1, maxHeadDim);
  const weightDType = checkWeights(checks, input, headDim, indexDim);
  checkNumbers(checks, options, indexQ ? Math.min(headDim, indexDim) : headDim);
  const dtype = q.dtype === 'f32' ? ('f32' as const) : ('bf16' as const);
  const { cache } = options;
  const cacheSlots = cache ? checkKvWrite(checks, { k, indexK, ...cache }).cacheSlots : 0;
  const allHeads = heads + kvHeads + (indexQ ? indexHeads + 1 : 0);
  return {
    tokens,
    heads,
    kvHeads,
    headDim,
    indexHeads,
    indexDim,
    allHeads,
    cacheSlots,
    dtype,
    weightDType,
  };
}

function checkWeights(
  checks: ArgumentChecks,
  { indexQ, qWeight, kWeight, indexQWeight, indexKWeight }: QkNormRopeInput,
  headDim: number,
  indexDim: number,
): string {
  const weights = [
    ['qWeight', qWeight, headDim],
    ['kWeight', kWeight, headDim],
    ['indexQWeight', indexQWeight, indexDim],
    ['indexKWeight', indexKWeight, indexDim],
  ] as const;
  const first = weights.find(([, weight]) => weight)?.[1]?.dtype;
  for (const [name, weight, dims] of weights) {
    if (!weight) continue;
    if (!indexQ && name.startsWith('index')) {
      throw checks.rangeError(name, 'needs `indexQ` and `indexK`: give all of them or none.');
    }
    const dtypes = first && activationDTypes.includes(first) ? [first] : activationDTypes;
    checks.tensor(name, weight, { dtypes, shape: [dims] });
  }
  return first ?? 'bf16';
}

function checkNumbers(
  checks: ArgumentChecks,
  { rotaryDim, theta, eps = 1e-6 }: QkNormRopeOptions,
  dims: number,
): void {
  checks.whole('rotaryDim', rotaryDim, 0, dims);
  if (rotaryDim % 2 !== 0) {
    throw checks.rangeError('rotaryDim', `must be even, got ${rotaryDim}.`);
  }
  checks.positive('theta', theta);
  if (!Number.isFinite(eps) || eps < 0) {
    throw checks.rangeError('eps', `must be a finite number of at least 0, got ${eps}.`);
  }
}
