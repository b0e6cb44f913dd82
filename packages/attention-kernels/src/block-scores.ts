import { dependentConfig, type OperationOptions, type Tensor } from '@altstream/cuda-runtime';
import { activationDTypes, checksOf, maxHeadDim } from './arguments/checks.js';
import { checkPageBatch, type PageBatch } from './arguments/page-batch.js';
import { checkTokenRange, type TokenRange } from './arguments/token-range.js';
import { planBlockScores } from './block-scores.plan.js';
import { attentionKernel } from './module.js';

/** How the scores of a block's tokens become the block's: the largest, or log Σ exp. */
export type ScoreType = 'max' | 'lse';

/** Tensors of `blockScores`. */
export interface BlockScoresInput extends PageBatch {
  /** bf16|f32 [tokens, indexHeads, indexDim], after norm and RoPE. */
  readonly indexQ: Tensor;
  /** [pages, pageTokens, indexDim], dtype of indexQ; one key per token, shared by the heads. */
  readonly indexKeys: Tensor;
}

/** Numbers of `blockScores`. */
export interface BlockScoresOptions extends OperationOptions {
  /** Tokens with at most this many candidates get no score: they take all blocks. */
  readonly topkBlocks: number;
  /** Default `max`. */
  readonly scoreType?: ScoreType;
  /** Only these tokens; default all. */
  readonly range?: TokenRange | undefined;
  /** Written instead of a new tensor; f32 [tokens of the range, indexHeads, maxPages]. */
  readonly out?: Tensor;
}

/**
 * Scores the blocks of each token's context, per index head:
 *
 *     s[j] = Σ_d indexQ[token, head, d] · indexKey[j, d]                 for keys j ≤ position
 *     max:  score[b] = max of s[j] over the keys j of block b
 *     lse:  score[b] = log Σ exp(s[j] · indexDim^−0.5) over them
 *
 * fp32; a NaN s[j] counts as −∞; so does a block without a page. Meant are the candidates of tokens
 * that have more than `topkBlocks` of them; everything else in the output is undefined.
 *
 * @returns f32 [tokens of the range, indexHeads, maxPages]
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/block-scores.md
 */
export function blockScores(input: BlockScoresInput, options: BlockScoresOptions): Tensor {
  const { stream, allocator = stream, topkBlocks, scoreType = 'max' } = options;
  const { range, ...shape } = checkBlockScores(input, options);
  const { indexHeads, maxPages } = shape;
  const out = options.out ?? allocator.tensor([range.count, indexHeads, maxPages], 'f32', 'scores');
  if (range.count === 0) return out;
  const isAligned = [input.indexQ, input.indexKeys].every((x) => x.byteOffset % 16 === 0);
  const wanted = { ...shape, tokens: range.count, scoreType, isAligned };
  const plan = planBlockScores(wanted, stream.device.limits);
  const kernel = attentionKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    index_q: input.indexQ,
    index_keys: input.indexKeys,
    page_table: input.pageTable,
    positions: input.positions,
    sequence_ids: input.sequenceIds,
    scores: out,
    first_token: range.first,
    tokens: range.count,
    index_heads: indexHeads,
    index_dim: shape.indexDim,
    pages: shape.pages,
    page_tokens: shape.pageTokens,
    sequences: shape.sequences,
    max_pages: maxPages,
    topk_blocks: topkBlocks,
    tile_tokens: plan.tileTokens,
    log_sum_exp: Number(scoreType === 'lse'),
    scale: shape.indexDim ** -0.5,
  });
  return out;
}

function checkBlockScores(input: BlockScoresInput, options: BlockScoresOptions) {
  const { indexQ, indexKeys } = input;
  const { topkBlocks, scoreType = 'max' } = options;
  const checks = checksOf('blockScores', options.stream);
  checks.tensor('indexQ', indexQ, {
    dtypes: activationDTypes,
    shape: ['tokens', 'indexHeads', 'indexDim'],
  });
  const tokens = indexQ.shape[0] ?? 0;
  const indexHeads = checks.size('indexQ', indexQ, 1, 'indexHeads');
  const indexDim = checks.size('indexQ', indexQ, 2, 'indexDim');
  checks.whole('indexDim', indexDim, 1, maxHeadDim);
  const shape = ['pages', 'pageTokens', indexDim];
  checks.tensor('indexKeys', indexKeys, { dtypes: [indexQ.dtype], shape });
  const pages = checks.size('indexKeys', indexKeys, 0, 'pages');
  const pageTokens = checks.size('indexKeys', indexKeys, 1, 'pageTokens');
  const table = checkPageBatch(checks, input, tokens);
  checks.whole('topkBlocks', topkBlocks, 1, 2 ** 31 - 1);
  if (scoreType !== 'max' && scoreType !== 'lse') {
    throw checks.rangeError('scoreType', `must be 'max' or 'lse', got ${String(scoreType)}.`);
  }
  const range = checkTokenRange(checks, options.range, tokens);
  if (options.out) {
    const shape = [range.count, indexHeads, table.maxPages];
    checks.tensor('out', options.out, { dtypes: ['f32'], shape });
  }
  const dtype = indexQ.dtype === 'f32' ? ('f32' as const) : ('bf16' as const);
  return { range, indexHeads, indexDim, pages, pageTokens, ...table, dtype };
}
