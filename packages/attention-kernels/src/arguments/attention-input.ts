// What dense and sparse attention take alike, and its checks.
import type { ArgumentChecks, OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { activationDTypes, maxHeadDim } from './checks.js';
import { checkPageBatch, type PageBatch } from './page-batch.js';

/** Queries and the paged cache that they look at. */
export interface AttentionInput extends PageBatch {
  /** bf16|f32 [tokens, heads, headDim]; query head j reads KV head ⌊j · kvHeads / heads⌋. */
  readonly q: Tensor;
  /** [pages, pageTokens, kvHeads, headDim], dtype of q. */
  readonly kCache: Tensor;
  /** As kCache. */
  readonly vCache: Tensor;
}

/** Options of dense and sparse attention. */
export interface AttentionOptions extends OperationOptions {
  /** Multiplies the scores; default headDim^−0.5. */
  readonly scale?: number;
  /** Written instead of a new tensor; [tokens, heads · headDim], dtype of q. */
  readonly out?: Tensor;
}

/** Sizes of a checked call. */
export interface AttentionShape {
  readonly tokens: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly pages: number;
  readonly pageTokens: number;
  readonly sequences: number;
  readonly maxPages: number;
  readonly scale: number;
  readonly dtype: 'bf16' | 'f32';
}

/**
 * Checks what both kinds of attention take.
 *
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError
 */
export function checkAttention(
  checks: ArgumentChecks,
  input: AttentionInput,
  options: AttentionOptions,
): AttentionShape {
  const { q, kCache, vCache } = input;
  const dtypes = [q.dtype];
  checks.tensor('q', q, { dtypes: activationDTypes, shape: ['tokens', 'heads', 'headDim'] });
  const tokens = q.shape[0] ?? 0;
  const heads = checks.size('q', q, 1, 'heads');
  const headDim = checks.size('q', q, 2, 'headDim');
  checks.whole('headDim', headDim, 1, maxHeadDim);
  checks.tensor('kCache', kCache, { dtypes, shape: ['pages', 'pageTokens', 'kvHeads', headDim] });
  checks.tensor('vCache', vCache, { dtypes, shape: kCache.shape });
  const pages = checks.size('kCache', kCache, 0, 'pages');
  const pageTokens = checks.size('kCache', kCache, 1, 'pageTokens');
  const kvHeads = checks.size('kCache', kCache, 2, 'kvHeads');
  if (heads % kvHeads !== 0) {
    throw checks.shapeError(
      'q',
      `has ${heads} heads, which is no multiple of ${kvHeads} KV heads.`,
    );
  }
  const table = checkPageBatch(checks, input, tokens);
  const { scale = headDim ** -0.5, out } = options;
  checks.positive('scale', scale);
  if (out) checks.tensor('out', out, { dtypes, shape: [tokens, heads * headDim] });
  const dtype = q.dtype === 'f32' ? 'f32' : 'bf16';
  return { tokens, heads, kvHeads, headDim, pages, pageTokens, ...table, scale, dtype };
}

/** Values of the parameter fields that both kernels have. */
export function attentionParams(
  input: AttentionInput,
  shape: AttentionShape,
  out: Tensor,
): Record<string, Tensor | number> {
  return {
    q: input.q,
    k_cache: input.kCache,
    v_cache: input.vCache,
    page_table: input.pageTable,
    positions: input.positions,
    sequence_ids: input.sequenceIds,
    out,
    tokens: shape.tokens,
    heads: shape.heads,
    kv_heads: shape.kvHeads,
    head_dim: shape.headDim,
    pages: shape.pages,
    page_tokens: shape.pageTokens,
    sequences: shape.sequences,
    max_pages: shape.maxPages,
    scale: shape.scale,
  };
}
