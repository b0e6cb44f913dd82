import { dependentConfig, type Stream, type Tensor } from '@altstream/cuda-runtime';
import { checksOf, maxHeadDim } from './arguments/checks.js';
import { planAttentionCombine } from './attention-combine.plan.js';
import { attentionKernel } from './module.js';

/** Tensors of `attentionCombine`. */
export interface AttentionCombineInput {
  /**
   * f32 [tokens, heads, pieces, headDim + 2]; of each piece of a row's keys: Σ exp(s − max s) · v,
   * the largest s before it was scaled, Σ exp(s − max s). Nothing but a sum of 0 need be there for
   * a piece without keys.
   */
  readonly partials: Tensor;
  /** i32 [tokens]; −1 = padding row, its output is 0. */
  readonly positions: Tensor;
  /** Written; bf16 [tokens, heads · headDim]. */
  readonly out: Tensor;
}

/** Numbers of `attentionCombine`. */
export interface AttentionCombineOptions {
  readonly stream: Stream;
  /** As in `OperationOptions`. */
  readonly programmatic?: boolean | undefined;
  /** Keys of a piece: 128 or 2048. */
  readonly pieceKeys: number;
  /** Keys that a row can have; pieces behind them are not read. */
  readonly mostKeys: number;
  /** Whether pieces without a key at or before the position are not read either. */
  readonly isCausal: boolean;
  /** What the scores were multiplied by. */
  readonly scale: number;
}

/**
 * Joins the pieces of query rows that attention has split: out = Σ of the pieces, each brought to
 * the row's maximum, divided by the row's Σ exp. Pieces of 128 keys are joined to runs of 2048,
 * runs to the row, in ascending order: the bits of a row that was not split.
 *
 * @throws ShapeError, DTypeError, ArgumentRangeError, DeviceError, NotLoadedError
 * @see docs/attention-combine.md
 */
export function attentionCombine(
  { partials, positions, out }: AttentionCombineInput,
  options: AttentionCombineOptions,
): void {
  const { stream, pieceKeys, mostKeys, isCausal, scale } = options;
  const checks = checksOf('attentionCombine', stream);
  const shape = ['tokens', 'heads', 'pieces', 'headDim + 2'];
  checks.tensor('partials', partials, { dtypes: ['f32'], shape });
  const [tokens = 0, , , width = 0] = partials.shape;
  const heads = checks.size('partials', partials, 1, 'heads');
  const pieces = checks.size('partials', partials, 2, 'pieces');
  const headDim = width - 2;
  checks.whole('headDim', headDim, 1, maxHeadDim);
  checks.tensor('positions', positions, { dtypes: ['i32'], shape: [tokens] });
  checks.tensor('out', out, { dtypes: ['bf16'], shape: [tokens, heads * headDim] });
  if (pieceKeys !== 128 && pieceKeys !== 2048) {
    throw checks.rangeError('pieceKeys', `must be 128 or 2048, got ${pieceKeys}.`);
  }
  checks.whole('mostKeys', mostKeys, 1, pieces * pieceKeys);
  checks.positive('scale', scale);
  if (tokens === 0) return;
  const plan = planAttentionCombine({ tokens, heads, headDim, mostKeys, pieceKeys });
  const kernel = attentionKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    partials,
    positions,
    out,
    most_keys: mostKeys,
    tokens,
    heads,
    head_dim: headDim,
    pieces,
    piece_keys: pieceKeys,
    is_causal: Number(isCausal),
    scale,
  });
}
