import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { activationDtype, checkFinite, checkTensor } from './arguments/checks.js';
import { ShapeError } from './errors/index.js';
import type { ExpertsOptions } from './experts-gate-up.js';
import { planFinalize } from './finalize.plan.js';
import { moeKernel } from './module.js';
import { withoutPdl } from './pdl.js';

/** What is summed. */
export interface FinalizeInput {
  /** [tokens · k, hidden] f32 or bf16, from `expertsDown`. */
  readonly expertOut: Tensor;
  /** [tokens, k] i32, from `permute`. */
  readonly slots: Tensor;
  /** [tokens, k] f32, from `topk`. */
  readonly weights: Tensor;
  /**
   * [tokens, hidden], dtype of `expertOut`: the shared expert's output, added to the rounded sum.
   */
  readonly addend?: Tensor | undefined;
}

/** Where and how the operation runs. */
export interface FinalizeOptions extends ExpertsOptions {
  /** [tokens, hidden] to write instead of a new tensor; must not overlap the inputs. */
  readonly out?: Tensor;
  /** Multiplied into the sum; the routed scaling factor with scaleOwner 'output'. Default 1. */
  readonly scale?: number;
  /**
   * Whether slots and weights were complete before the kernel in front of this one began to wait,
   * as they are when two kernels lie between: then a programmatic launch reads them before it
   * waits. Default false.
   */
  readonly isSettled?: boolean;
}

const operation = 'finalize';

/**
 * out[t] = round(scale · Σ_j weights[t, j] · expertOut[slots[t, j]]), fp32, in ascending j, one
 * rounding; then plus the addend, if any, rounded again: the bits of an addition of its own. Slots
 * outside of expertOut (−1) are skipped; a token without a local expert gives zeros.
 *
 * @returns [tokens, hidden] in the dtype of `expertOut`
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, NotLoadedError
 * @see docs/finalize.md
 */
export function finalize(input: FinalizeInput, options: FinalizeOptions): Tensor {
  const { stream, allocator = stream, scale = 1, isSettled = false } = options;
  const { expertOut, slots, weights } = input;
  checkFinite(operation, 'scale', scale);
  const { tokens, k, hidden, dtype } = checkInput(input, stream);
  const out = options.out ?? allocator.tensor([tokens, hidden], dtype, 'finalize.out');
  if (options.out !== undefined) checkOut(input, options.out, [tokens, hidden], stream);
  const plan = planFinalize(
    { tokens, hidden, dtype },
    stream.device.limits,
    options.pdl ?? withoutPdl,
  );
  if (tokens === 0) return out;
  stream.launch(moeKernel(stream, plan.kernel), plan.config, {
    expert_out: expertOut,
    slots,
    weights,
    addend: input.addend ?? null,
    out,
    tokens,
    k,
    hidden,
    settled: isSettled ? 1 : 0,
    scale,
  });
  return out;
}

function checkInput({ expertOut, slots, weights, addend }: FinalizeInput, stream: Stream) {
  const dimensions = ['tokens', 'k'];
  const slotsRule = { dtypes: ['i32'] as const, shape: [null, null], dimensions };
  checkTensor(operation, 'slots', slots, slotsRule, stream);
  const weightsRule = { dtypes: ['f32'] as const, shape: slots.shape, dimensions };
  checkTensor(operation, 'weights', weights, weightsRule, stream);
  const expertOutRule = {
    dtypes: ['f32', 'bf16'] as const,
    shape: [slots.elements, null],
    dimensions: ['tokens · k', 'hidden'],
  };
  checkTensor(operation, 'expertOut', expertOut, expertOutRule, stream);
  const [tokens = 0, k = 0] = slots.shape;
  const hidden = expertOut.shape[1] ?? 0;
  if (addend) {
    const shape = [tokens, hidden];
    const rule = { dtypes: [expertOut.dtype], shape, dimensions: ['tokens', 'hidden'] };
    checkTensor(operation, 'addend', addend, rule, stream);
  }
  return { tokens, k, hidden, dtype: activationDtype(expertOut.dtype) };
}

function checkOut(
  { expertOut }: FinalizeInput,
  out: Tensor,
  shape: readonly number[],
  stream: Stream,
): void {
  const dimensions = ['tokens', 'hidden'];
  checkTensor(operation, 'out', out, { dtypes: [expertOut.dtype], shape, dimensions }, stream);
  const end = (tensor: Tensor) => tensor.byteOffset + tensor.bytes;
  const isApart = out.byteOffset >= end(expertOut) || expertOut.byteOffset >= end(out);
  if (out.buffer !== expertOut.buffer || isApart || out.bytes === 0) return;
  throw new ShapeError({
    operation,
    argument: 'out',
    expected: 'memory of its own: rows are read after others were written',
    received: 'overlapping `expertOut`',
  });
}
