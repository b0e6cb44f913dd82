import { type OperationOptions, type Tensor, withScratch } from '@altstream/cuda-runtime';
import { activationDTypes, checksOf } from './arguments/checks.js';
import { type BlockScoresInput, blockScores, type ScoreType } from './block-scores.js';
import { type BlockChoice, blockTopk, checkBlockChoice } from './block-topk.js';
import { planSelectBlocks } from './select-blocks.plan.js';

/** Options of `selectBlocks`. */
export interface SelectBlocksOptions extends OperationOptions, BlockChoice {
  /** Default `max`. */
  readonly scoreType?: ScoreType;
  /** Most bytes of scratch for scores; default 32 MiB. One token's scores are always allowed. */
  readonly scratchBytes?: number;
  /** Written instead of a new tensor; i32 [indexHeads, tokens, topkBlocks]. */
  readonly out?: Tensor;
}

/**
 * MSA block selection: scores the blocks of each token's context per index head (`blockScores`) and
 * chooses among them (`blockTopk`). Each index head selects for its KV head; nothing is reduced
 * over heads. The scores are scratch: given back to the stream or, in a workspace, to the next
 * operation.
 *
 * @returns i32 [indexHeads, tokens, topkBlocks], ascending, left-packed, −1 behind
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/select-blocks.md
 */
export function selectBlocks(input: BlockScoresInput, options: SelectBlocksOptions): Tensor {
  const { indexQ, indexKeys, pageTable, positions } = input;
  const { out, scratchBytes = 32 * 2 ** 20, ...choice } = options;
  const { stream, allocator = stream, topkBlocks } = choice;
  const checks = checksOf('selectBlocks', stream);
  checkBlockChoice(checks, choice);
  checks.positive('scratchBytes', scratchBytes);
  checks.tensor('indexQ', indexQ, {
    dtypes: activationDTypes,
    shape: ['tokens', 'indexHeads', 'indexDim'],
  });
  const tokens = indexQ.shape[0] ?? 0;
  const indexHeads = checks.size('indexQ', indexQ, 1, 'indexHeads');
  const maxPages = checks.size('pageTable', pageTable, 1, 'maxPages');
  if (out) checks.tensor('out', out, { dtypes: ['i32'], shape: [indexHeads, tokens, topkBlocks] });
  const blocks = out ?? allocator.tensor([indexHeads, tokens, topkBlocks], 'i32', 'blocks');
  const plan = planSelectBlocks({ tokens, indexHeads, maxPages }, scratchBytes);
  const pageTokens = checks.size('indexKeys', indexKeys, 1, 'pageTokens');
  for (const range of plan.ranges) {
    withScratch(allocator, (scratch) => {
      const scores = blockScores(input, { ...choice, range, allocator: scratch });
      blockTopk({ scores, positions }, { ...choice, range, pageTokens, out: blocks });
    });
  }
  return blocks;
}
