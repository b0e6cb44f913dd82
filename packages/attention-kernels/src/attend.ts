// Launches either kind of attention as its plan says.
import { type OperationOptions, type Tensor, withScratch } from '@altstream/cuda-runtime';
import {
  type AttentionInput,
  type AttentionShape,
  attentionParams,
} from './arguments/attention-input.js';
import {
  type AttendOperation,
  type AttendShape,
  planAttend,
  planAttentionCombine,
} from './attend.plan.js';
import { attentionKernel } from './module.js';

/** A checked call. */
export interface AttendCall {
  readonly operation: AttendOperation;
  readonly input: AttentionInput;
  readonly shape: AttentionShape;
  readonly out: Tensor;
  /** Keys that a row can have. */
  readonly mostKeys: number;
  /** Whether rows have no key behind their position: pieces there do not exist. */
  readonly isCausal: boolean;
  /** Parameters that only this operation has. */
  readonly more: Readonly<Record<string, Tensor | number>>;
}

/**
 * Enqueues the kernel and, where rows are split, the one that joins their pieces. `limits` are the
 * device's unless a test wants another cut.
 */
export function attend(
  call: AttendCall,
  { stream, allocator = stream }: OperationOptions,
  limits = stream.device.limits,
): void {
  const { input, out, mostKeys } = call;
  const tensors = [input.q, input.kCache, input.vCache, out];
  const isAligned = tensors.every(({ byteOffset }) => byteOffset % 16 === 0);
  const shape: AttendShape = { ...call.shape, mostKeys, isAligned };
  const plan = planAttend(call.operation, shape, limits);
  const { pieces, pieceKeys } = plan;
  const params = { ...attentionParams(input, call.shape, out), ...call.more, pieces };
  const launch = (partials: Tensor | null) => {
    const kernel = attentionKernel(stream, plan.kernel);
    stream.launch(kernel, plan.config, { ...params, partials, piece_keys: pieceKeys });
  };
  if (pieces === 0) {
    launch(null);
    return;
  }
  withScratch(allocator, (scratch) => {
    const { tokens, heads, headDim, scale } = call.shape;
    const partials = scratch.tensor([tokens, heads, pieces, headDim + 2], 'f32', 'partials');
    launch(partials);
    const combine = planAttentionCombine(shape);
    stream.launch(attentionKernel(stream, combine.kernel), combine.config, {
      partials,
      positions: input.positions,
      out,
      most_keys: mostKeys,
      tokens,
      heads,
      head_dim: headDim,
      pieces,
      piece_keys: pieceKeys,
      is_causal: Number(call.isCausal),
      scale,
    });
  });
}
