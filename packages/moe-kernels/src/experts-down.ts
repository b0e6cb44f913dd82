import { type Stream, type Tensor, withScratchBytes } from '@altstream/cuda-runtime';
import { activationDtype, checkTensor } from './arguments/checks.js';
import {
  checkExpertWeight,
  type ExpertWeight,
  weightFormat,
  weightIsAligned,
} from './arguments/expert-weight.js';
import { checkPermutation, type Permutation } from './arguments/permutation.js';
import { planExpertsDown } from './experts-down.plan.js';
import type { ExpertsOptions } from './experts-gate-up.js';
import { expertsPack } from './experts-pack.js';
import { moeKernel } from './module.js';
import { withoutPdl } from './pdl.js';

/** What the experts read. */
export interface ExpertsDownInput {
  /** [tokens · k, intermediate] f32 or bf16, from `expertsGateUp`. */
  readonly y: Tensor;
  /** [localExperts, hidden, intermediate]. */
  readonly w2: ExpertWeight;
  readonly permutation: Permutation;
}

/** Where and how the operation runs. */
export interface ExpertsDownOptions extends ExpertsOptions {
  /**
   * Whether the permutation is complete before the kernels in front of this one begin, as it is
   * behind `expertsGateUp` with the same one: a programmatic launch then reads it, and asks for
   * weights, before it waits. Default false.
   */
  readonly isSettled?: boolean;
}

const operation = 'expertsDown';

/**
 * Down projection of the chosen experts, fp32 inside, rounded once to the dtype of `y`. Experts
 * without tokens are not read. A row depends on its own y and expert alone, bit for bit.
 *
 * @returns h2 [tokens · k, hidden] in permuted order; rows behind the last are not written
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, NotLoadedError
 * @see docs/experts-down.md
 */
export function expertsDown(input: ExpertsDownInput, options: ExpertsDownOptions): Tensor {
  const { stream, allocator = stream, isSettled = false } = options;
  const shape = checkInput(input, stream);
  const slots = input.y.shape[0] ?? 0;
  const h2 = allocator.tensor([slots, shape.hidden], shape.activations, 'experts.h2');
  const { pdl = withoutPdl, firstPdl: first = pdl, path } = options;
  const plan = planExpertsDown(shape, stream.device.limits, pdl, { path, first });
  if (slots === 0) return h2;
  withScratchBytes(allocator, plan.workspaceBytes, 'experts.packed', (packed) => {
    expertsPack(stream, plan.pack, input.y, packed);
    stream.launch(moeKernel(stream, plan.kernel), plan.config, {
      y: input.y,
      w2: input.w2.data,
      scales: input.w2.scales ?? null,
      offsets: input.permutation.offsets,
      h2,
      packed,
      slots,
      experts: shape.localExperts,
      hidden: shape.hidden,
      intermediate: shape.intermediate,
      settled: isSettled ? 1 : 0,
    });
  });
  return h2;
}

function checkInput({ y, w2, permutation }: ExpertsDownInput, stream: Stream) {
  const [tokens = 0, k = 0] = permutation.slots.shape;
  const yRule = {
    dtypes: ['f32', 'bf16'] as const,
    shape: [permutation.slots.elements, null],
    dimensions: ['tokens · k', 'intermediate'],
  };
  checkTensor(operation, 'y', y, yRule, stream);
  const localExperts = checkPermutation(operation, permutation, tokens, stream);
  const intermediate = y.shape[1] ?? 0;
  checkExpertWeight(
    operation,
    w2,
    {
      argument: 'w2',
      experts: localExperts,
      rows: null,
      rowsName: 'hidden',
      columns: intermediate,
      columnsName: 'intermediate',
    },
    stream,
  );
  return {
    tokens,
    k,
    localExperts,
    hidden: w2.data.shape[1] ?? 0,
    intermediate,
    weights: weightFormat(w2),
    activations: activationDtype(y.dtype),
    isAligned: weightIsAligned(w2),
  };
}
