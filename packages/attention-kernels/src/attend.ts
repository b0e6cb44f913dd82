// Launches either kind of attention as its plan says.
import {
  dependentConfig,
  type OperationOptions,
  type Tensor,
  withScratch,
} from '@altstream/cuda-runtime';
import {
  type AttentionInput,
  type AttentionShape,
  attentionParams,
} from './arguments/attention-input.js';
import type { AttendPlan, AttendShape } from './attend.plan.js';
import { attentionCombine } from './attention-combine.js';
import { attentionKernel } from './module.js';

/** A checked call. */
export interface AttendCall {
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

/** What the call's plan is made from. */
export function attendShape({ input, shape, out, mostKeys }: AttendCall): AttendShape {
  const tensors = [input.q, input.kCache, input.vCache, out];
  return { ...shape, mostKeys, isAligned: tensors.every((x) => x.byteOffset % 16 === 0) };
}

/** Enqueues the kernel and, where it leaves pieces of rows, the one that joins them. */
export function attend(
  { input, shape, out, mostKeys, isCausal, more }: AttendCall,
  { kernel: name, config, pieces, pieceKeys }: AttendPlan,
  { stream, allocator = stream, programmatic }: OperationOptions,
): void {
  const kernel = attentionKernel(stream, name);
  const launch = (partials: Tensor | null) => {
    const params = { ...attentionParams(input, shape, out), ...more, partials };
    stream.launch(kernel, dependentConfig(kernel, config, { programmatic }), {
      ...params,
      pieces,
      piece_keys: pieceKeys,
    });
  };
  if (pieces === 0) {
    launch(null);
    return;
  }
  withScratch(allocator, (scratch) => {
    const { tokens, heads, headDim, scale } = shape;
    const partials = scratch.tensor([tokens, heads, pieces, headDim + 2], 'f32', 'partials');
    launch(partials);
    const { positions } = input;
    const options = { stream, programmatic, pieceKeys, mostKeys, isCausal, scale };
    attentionCombine({ partials, positions, out }, options);
  });
}
