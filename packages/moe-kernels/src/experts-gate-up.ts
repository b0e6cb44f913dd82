import {
  type Stream,
  type Tensor,
  type TensorAllocator,
  withScratchBytes,
} from '@altstream/cuda-runtime';
import { activationDtype, checkTensor } from './arguments/checks.js';
import {
  checkExpertWeight,
  type ExpertWeight,
  weightFormat,
  weightIsAligned,
} from './arguments/expert-weight.js';
import { checkPermutation, type Permutation } from './arguments/permutation.js';
import { resolveSwiglu, type SwigluConfig } from './arguments/swiglu-config.js';
import { ArgumentRangeError } from './errors/index.js';
import type { TensorCorePath } from './experts/experts.shape.js';
import { planExpertsGateUp } from './experts-gate-up.plan.js';
import { expertsPack } from './experts-pack.js';
import { moeKernel } from './module.js';
import { type PdlChooser, withoutPdl } from './pdl.js';

/** What the experts read. */
export interface ExpertsGateUpInput {
  /** [tokens, hidden] f32 or bf16. */
  readonly hidden: Tensor;
  /** [localExperts, 2 · intermediate, hidden]: gate rows, then up rows. */
  readonly w13: ExpertWeight;
  /** Of the same tokens. */
  readonly permutation: Permutation;
}

/** Where and how the operation runs. */
export interface ExpertsOptions {
  readonly stream: Stream;
  /** Of the output; default the stream. */
  readonly allocator?: TensorAllocator;
  /** Programmatic launch; default never. */
  readonly pdl?: PdlChooser;
  /** Of the first launch, where there are two (`pack` of the plan); default `pdl`. */
  readonly firstPdl?: PdlChooser;
  /**
   * Of a GPU, for measurements: weights streamed, or tiled with or without warpgroups, with the
   * same bits. Default by shape.
   */
  readonly path?: TensorCorePath;
}

const operation = 'expertsGateUp';

/**
 * Gate and up projections of the chosen experts with SwiGLU-OAI behind them, fp32 inside, rounded
 * once to the dtype of `hidden` (W8A16: weights are widened exactly, activations not quantised).
 * Experts without tokens are not read. A row depends on its token and expert alone, bit for bit.
 *
 * @returns y [tokens · k, intermediate] in permuted order; rows behind the last are not written
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, NotLoadedError
 * @see docs/experts-gate-up.md
 */
export function expertsGateUp(
  input: ExpertsGateUpInput,
  swiglu: SwigluConfig,
  options: ExpertsOptions,
): Tensor {
  const { stream, allocator = stream } = options;
  const activation = resolveSwiglu(swiglu, operation);
  const shape = checkInput(input, stream);
  const slots = shape.tokens * shape.k;
  const y = allocator.tensor([slots, shape.intermediate], shape.activations, 'experts.y');
  const { pdl = withoutPdl, firstPdl: first = pdl, path } = options;
  const plan = planExpertsGateUp(shape, stream.device.limits, pdl, { path, first });
  if (slots === 0) return y;
  withScratchBytes(allocator, plan.workspaceBytes, 'experts.packed', (packed) => {
    expertsPack(stream, plan.pack, input.hidden, packed);
    stream.launch(moeKernel(stream, plan.kernel), plan.config, {
      x: input.hidden,
      w13: input.w13.data,
      scales: input.w13.scales ?? null,
      offsets: input.permutation.offsets,
      rows: input.permutation.rows,
      y,
      packed,
      slots,
      experts: shape.localExperts,
      k: shape.k,
      hidden: shape.hidden,
      intermediate: shape.intermediate,
      ...activation,
    });
  });
  return y;
}

function checkInput({ hidden, w13, permutation }: ExpertsGateUpInput, stream: Stream) {
  const hiddenRule = {
    dtypes: ['f32', 'bf16'] as const,
    shape: [null, null],
    dimensions: ['tokens', 'hidden'],
  };
  checkTensor(operation, 'hidden', hidden, hiddenRule, stream);
  const [tokens = 0, columns = 0] = hidden.shape;
  const localExperts = checkPermutation(operation, permutation, tokens, stream);
  checkExpertWeight(
    operation,
    w13,
    {
      argument: 'w13',
      experts: localExperts,
      rows: null,
      rowsName: '2 · intermediate',
      columns,
      columnsName: 'hidden',
    },
    stream,
  );
  const rows = w13.data.shape[1] ?? 0;
  if (rows % 2 !== 0) {
    const problem = `w13.data must have an even number of rows (gate, then up), got ${rows}`;
    throw new ArgumentRangeError(operation, problem);
  }
  return {
    tokens,
    k: permutation.slots.shape[1] ?? 0,
    localExperts,
    hidden: columns,
    intermediate: rows / 2,
    weights: weightFormat(w13),
    activations: activationDtype(hidden.dtype),
    isAligned: weightIsAligned(w13),
  };
}
