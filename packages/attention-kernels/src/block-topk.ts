import {
  type ArgumentChecks,
  dependentConfig,
  type OperationOptions,
  type Tensor,
} from '@altstream/cuda-runtime';
import { checksOf } from './arguments/checks.js';
import { checkTokenRange, type TokenRange } from './arguments/token-range.js';
import { planBlockTopk } from './block-topk.plan.js';
import { attentionKernel } from './module.js';

/** Tensors of `blockTopk`. */
export interface BlockTopkInput {
  /** f32 [tokens of the range, indexHeads, maxPages] of `blockScores`. */
  readonly scores: Tensor;
  /** i32 [tokens], absolute; −1 = padding row, its ids are all −1. */
  readonly positions: Tensor;
}

/** How many blocks are chosen, and which in any case. */
export interface BlockChoice {
  /** Blocks per token and index head, at most 1024; the forced ones count. */
  readonly topkBlocks: number;
  /** First blocks of the context that are always chosen; default 0. */
  readonly initBlocks?: number;
  /** Last blocks, the token's own one included, that are always chosen; default 1, least 1. */
  readonly localBlocks?: number;
}

/** Numbers of `blockTopk`. */
export interface BlockTopkOptions extends OperationOptions, BlockChoice {
  /** Tokens of a block. */
  readonly pageTokens: number;
  /** The tokens that `scores` has rows for; default all. */
  readonly range?: TokenRange | undefined;
  /**
   * Written instead of a new tensor; i32 [indexHeads, tokens, topkBlocks], rows of the range only.
   */
  readonly out?: Tensor;
}

/**
 * Chooses, for each token and index head, min(topkBlocks, ⌊position / pageTokens⌋ + 1) blocks: the
 * forced ones and those with the largest scores. Ties go to the lower id; NaN counts as −∞. Tokens
 * with no more candidates than `topkBlocks` take all without a look at their scores.
 *
 * @returns i32 [indexHeads, tokens, topkBlocks], ascending, left-packed, −1 behind
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/block-topk.md
 */
export function blockTopk(input: BlockTopkInput, options: BlockTopkOptions): Tensor {
  const { scores, positions } = input;
  const { stream, allocator = stream, pageTokens, topkBlocks } = options;
  const { initBlocks = 0, localBlocks = 1 } = options;
  const { range, tokens, indexHeads, maxPages } = checkBlockTopk(input, options);
  const out = options.out ?? allocator.tensor([indexHeads, tokens, topkBlocks], 'i32', 'blocks');
  if (range.count === 0) return out;
  const plan = planBlockTopk({ tokens: range.count, indexHeads });
  const kernel = attentionKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    scores,
    positions,
    blocks: out,
    first_token: range.first,
    tokens: range.count,
    total_tokens: tokens,
    index_heads: indexHeads,
    page_tokens: pageTokens,
    max_pages: maxPages,
    topk_blocks: topkBlocks,
    init_blocks: initBlocks,
    local_blocks: localBlocks,
  });
  return out;
}

/** Checks the numbers of a choice. @throws ArgumentRangeError */
export function checkBlockChoice(checks: ArgumentChecks, choice: BlockChoice): void {
  const { topkBlocks, initBlocks = 0, localBlocks = 1 } = choice;
  checks.whole('topkBlocks', topkBlocks, 1, 1024);
  checks.whole('initBlocks', initBlocks, 0, topkBlocks);
  checks.whole('localBlocks', localBlocks, 1, topkBlocks);
  if (initBlocks + localBlocks > topkBlocks) {
    const detail =
      `forces ${initBlocks} first and ${localBlocks} last blocks, ` +
      `more than the ${topkBlocks} that are chosen. Raise topkBlocks or force fewer.`;
    throw checks.rangeError('initBlocks', detail);
  }
}

function checkBlockTopk({ scores, positions }: BlockTopkInput, options: BlockTopkOptions) {
  const { topkBlocks, pageTokens } = options;
  const checks = checksOf('blockTopk', options.stream);
  checkBlockChoice(checks, options);
  checks.whole('pageTokens', pageTokens, 1, 2 ** 31 - 1);
  checks.tensor('positions', positions, { dtypes: ['i32'], shape: ['tokens'] });
  const tokens = positions.shape[0] ?? 0;
  const range = checkTokenRange(checks, options.range, tokens);
  const shape = [range.count, 'indexHeads', 'maxPages'];
  checks.tensor('scores', scores, { dtypes: ['f32'], shape });
  const indexHeads = checks.size('scores', scores, 1, 'indexHeads');
  const maxPages = checks.size('scores', scores, 2, 'maxPages');
  if (options.out) {
    const shape = [indexHeads, tokens, topkBlocks];
    checks.tensor('out', options.out, { dtypes: ['i32'], shape });
  }
  return { range, tokens, indexHeads, maxPages };
}
