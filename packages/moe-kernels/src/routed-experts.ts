import type { DeviceLimits, Stream, Tensor, TensorAllocator } from '@altstream/cuda-runtime';
import { activationDtype, checkFinite, checkTensor } from './arguments/checks.js';
import { type ExpertRange, resolveExpertRange } from './arguments/expert-range.js';
import {
  checkExpertWeight,
  type ExpertWeight,
  type WeightFormat,
  weightFormat,
  weightIsAligned,
} from './arguments/expert-weight.js';
import type { Permutation } from './arguments/permutation.js';
import { resolveSwiglu, type SwigluConfig } from './arguments/swiglu-config.js';
import { ArgumentRangeError } from './errors/index.js';
import type { ExpertsShape } from './experts/experts.shape.js';
import { expertsDown } from './experts-down.js';
import { expertsGateUp } from './experts-gate-up.js';
import { finalize } from './finalize.js';
import { type PdlChooser, type PdlConfig, PdlPolicy, withObstacle } from './pdl.js';
import { pdlDtypeOf } from './pdl-limits.js';
import { permute } from './permute.js';
import { planRoutedExperts, type RoutedExpertsPlan } from './routed-experts.plan.js';
import type { TopkResult } from './topk.js';

/** Stacked weights of the local experts; owned by the `RoutedExperts` made of them. */
export interface RoutedExpertsWeights {
  /** [localExperts, 2 · intermediate, hidden]: gate rows (w1), then up rows (w3). */
  readonly w13: ExpertWeight;
  /** [localExperts, hidden, intermediate]. */
  readonly w2: ExpertWeight;
}

/** What is fixed for the life of the experts. */
export interface RoutedExpertsConfig extends ExpertRange {
  /** Default: alpha 1.702, beta 1, limit 7. */
  readonly swiglu?: SwigluConfig;
  /**
   * Multiplied into the routed sum: the routed scaling factor with scaleOwner 'output'. Default 1.
   */
  readonly outputScale?: number;
  /** Programmatic launches; the environment is read here, once. */
  readonly pdl?: PdlConfig;
}

/** What one call needs. */
export interface RoutedExpertsInput {
  /** [tokens, hidden] f32 or bf16. */
  readonly hidden: Tensor;
  /** From `topk`, or ids [tokens, k] i32 and weights [tokens, k] f32 of any origin. */
  readonly topk: Pick<TopkResult, 'ids' | 'weights' | 'scaledBy'>;
  /**
   * Maps of the same ids for the local experts, from `topkPermute`; default: they are made here.
   */
  readonly permutation?: Permutation;
}

/** Where and how one call runs. */
export interface RoutedExpertsOptions {
  readonly stream: Stream;
  /** Of the output and the intermediates; default the stream. */
  readonly allocator?: TensorAllocator;
  /** [tokens, hidden] to write instead of a new tensor. */
  readonly out?: Tensor;
  /** Wins over the instance's. */
  readonly pdl?: PdlConfig;
  /**
   * Whether the first kernel may be launched programmatically, too: the kernel before it in the
   * stream triggers only after it has waited itself, as all of these packages do. Default false.
   */
  readonly pdlWithPredecessor?: boolean;
}

/** What was chosen, for people and logs. */
export interface RoutedExpertsReport {
  readonly numExperts: number;
  readonly localExpertOffset: number;
  readonly localExperts: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly weights: WeightFormat;
  /** Weights are widened exactly; activations keep their dtype. */
  readonly mode: 'W8A16' | 'W16A16' | 'W32A16';
  readonly layout: 'plain';
  readonly weightBytes: number;
  readonly swiglu: Required<SwigluConfig>;
  readonly outputScale: number;
  /** Of the last call; absent before the first. */
  readonly lastPlan?: RoutedExpertsPlan;
}

/**
 * The rows of the experts of one call, before they are summed. A programmatic sum reads slots and
 * weights before it waits for the kernel in front of it: they stay as they are until then.
 */
export interface RoutedRows {
  /** [tokens · k, hidden] in permuted order. */
  readonly expertOut: Tensor;
  /** [tokens, k] i32, the row of each slot. */
  readonly slots: Tensor;
  /** [tokens, k] f32. */
  readonly weights: Tensor;
}

/** Where and how the rows of a call are summed. */
export interface SumRowsOptions extends Omit<RoutedExpertsOptions, 'pdlWithPredecessor'> {
  /** [tokens, hidden], added to the rounded sum: the output of a shared expert. */
  readonly addend?: Tensor;
}

interface LastCall {
  readonly shape: ExpertsShape;
  readonly device: DeviceLimits;
  readonly isPermuted: boolean;
  readonly pdl: PdlChooser;
  /** Of the first launch. */
  readonly first: PdlChooser;
  /** Of the sum. */
  readonly last: PdlChooser;
}

const operation = 'RoutedExperts';
/** A predecessor that triggers before it has waited would let the first kernel run too early. */
const unknownPredecessor = 'the call does not say `pdlWithPredecessor`';
const modes = { mxfp8: 'W8A16', bf16: 'W16A16', f32: 'W32A16' } as const;

/**
 * The routed experts of one layer: permute → gate and up with SwiGLU-OAI → down → finalize, with
 * the weights that they own. Nothing waits and nothing is allocated but from the allocator, so a
 * call can be captured.
 *
 * The result of a token does not depend on the other tokens of the call, bit for bit.
 */
export class RoutedExperts implements Disposable {
  readonly #weights: RoutedExpertsWeights;
  readonly #config: RoutedExpertsConfig;
  readonly #range: { readonly offset: number; readonly local: number };
  readonly #swiglu: Required<SwigluConfig>;
  readonly #outputScale: number;
  readonly #policy: PdlPolicy;
  readonly #pdl: PdlChooser;
  readonly #format: WeightFormat;
  #last: LastCall | undefined;

  /** @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, ConfigurationError */
  constructor(weights: RoutedExpertsWeights, config: RoutedExpertsConfig) {
    this.#range = resolveExpertRange(config, operation);
    this.#swiglu = resolveSwiglu(config.swiglu ?? {}, operation);
    this.#outputScale = config.outputScale ?? 1;
    checkFinite(operation, 'outputScale', this.#outputScale);
    checkWeights(weights, this.#range.local);
    this.#policy = new PdlPolicy(config.pdl);
    this.#format = weightFormat(weights.w13);
    this.#pdl = this.#policy.chooser(pdlDtypeOf(this.#format));
    this.#weights = weights;
    this.#config = config;
  }

  /** The experts that they are, among all. */
  get range(): Required<ExpertRange> {
    const { offset, local } = this.#range;
    const { numExperts } = this.#config;
    return { numExperts, localExpertOffset: offset, localNumExperts: local };
  }

  /** Columns of the input and the output. */
  get hidden(): number {
    return this.#weights.w2.data.shape[1] ?? 0;
  }

  /** Channels between the projections. */
  get intermediate(): number {
    return this.#weights.w2.data.shape[2] ?? 0;
  }

  /**
   * The weighted sum of each token's local experts; zeros where a token has none.
   *
   * @returns [tokens, hidden] in the dtype of `hidden`
   * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, ConfigurationError,
   * NotLoadedError
   */
  forward(input: RoutedExpertsInput, options: RoutedExpertsOptions): Tensor {
    return this.sumRows(this.forwardRows(input, options), options);
  }

  /**
   * `forward` without its last kernel, so that another stream may sum the rows together with what
   * it has made meanwhile. The rows live as long as what the allocator gave.
   *
   * @throws as `forward`
   */
  forwardRows(input: RoutedExpertsInput, options: Omit<RoutedExpertsOptions, 'out'>): RoutedRows {
    const { hidden, topk } = input;
    const { stream, allocator = stream } = options;
    this.#check(input, stream);
    const pdl = this.#chooser(options.pdl);
    const first = options.pdlWithPredecessor === true ? pdl : withObstacle(pdl, unknownPredecessor);
    const device = stream.device.limits;
    const isPermuted = input.permutation !== undefined;
    this.#last = { shape: this.#shape(input), device, isPermuted, pdl, first, last: pdl };
    const common = { stream, allocator, pdl };
    const onFirst = { ...common, pdl: first };
    const permutation = input.permutation ?? permute(topk.ids, this.#config, onFirst);
    const { w13, w2 } = this.#weights;
    const onSecond = { ...common, firstPdl: isPermuted ? first : pdl };
    const y = expertsGateUp({ hidden, w13, permutation }, this.#swiglu, onSecond);
    // Gate and up, with the same maps, lies between.
    const down = { ...common, isSettled: true };
    const expertOut = expertsDown({ y, w2, permutation }, down);
    return { expertOut, slots: permutation.slots, weights: topk.weights };
  }

  /**
   * Sums the rows of `forwardRows` on a stream that has waited for them.
   *
   * @returns [tokens, hidden]
   * @throws as `forward`
   */
  sumRows(rows: RoutedRows, options: SumRowsOptions): Tensor {
    const { stream, allocator = stream, out, addend } = options;
    const pdl = this.#chooser(options.pdl);
    if (this.#last) this.#last = { ...this.#last, last: pdl };
    return finalize(
      { ...rows, addend },
      {
        stream,
        allocator,
        pdl,
        scale: this.#outputScale,
        isSettled: true, // both projections lie between
        ...(out ? { out } : {}),
      },
    );
  }

  /** What was chosen and what was refused, and why. */
  describe(): RoutedExpertsReport {
    const { w13, w2 } = this.#weights;
    const report = {
      numExperts: this.#config.numExperts,
      localExpertOffset: this.#range.offset,
      localExperts: this.#range.local,
      hidden: this.hidden,
      intermediate: this.intermediate,
      weights: this.#format,
      mode: modes[this.#format],
      layout: 'plain' as const,
      weightBytes: weightBytes(w13) + weightBytes(w2),
      swiglu: this.#swiglu,
      outputScale: this.#outputScale,
    };
    if (this.#last === undefined) return report;
    const { shape, device, pdl, ...call } = this.#last;
    const areAligned = { w13: weightIsAligned(w13), w2: weightIsAligned(w2) };
    return { ...report, lastPlan: planRoutedExperts(shape, device, pdl, { ...call, areAligned }) };
  }

  /** Releases the weights; safe to call twice. */
  dispose(): void {
    for (const { data, scales } of [this.#weights.w13, this.#weights.w2]) {
      data.dispose();
      scales?.dispose();
    }
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** A call without options of its own shares the instance's. */
  #chooser(call: PdlConfig | undefined): PdlChooser {
    return call === undefined ? this.#pdl : this.#policy.chooser(pdlDtypeOf(this.#format), call);
  }

  #check({ hidden, topk, permutation }: RoutedExpertsInput, stream: Stream): void {
    const hiddenRule = {
      dtypes: ['f32', 'bf16'] as const,
      shape: [null, this.hidden],
      dimensions: ['tokens', 'hidden'],
    };
    checkTensor(operation, 'hidden', hidden, hiddenRule, stream);
    const dimensions = ['tokens', 'k'];
    const idsShape = [hidden.shape[0] ?? 0, null];
    const idsRule = { dtypes: ['i32'] as const, shape: idsShape, dimensions };
    checkTensor(operation, 'topk.ids', topk.ids, idsRule, stream);
    const weightsRule = { dtypes: ['f32'] as const, shape: topk.ids.shape, dimensions };
    checkTensor(operation, 'topk.weights', topk.weights, weightsRule, stream);
    if (permutation) this.#checkPermutation(permutation, topk.ids, stream);
    const { scaledBy = 1 } = topk;
    if (scaledBy === 1 || this.#outputScale === 1) return;
    throw new ArgumentRangeError(
      operation,
      `the routed scaling factor would be applied twice: topk.weights contain ${scaledBy} and outputScale is ${this.#outputScale}; route with scaleOwner 'output' or leave outputScale at 1`,
    );
  }

  #checkPermutation({ offsets, slots }: Permutation, ids: Tensor, stream: Stream): void {
    const dtypes = ['i32'] as const;
    const slotsRule = { dtypes, shape: ids.shape, dimensions: ['tokens', 'k'] };
    checkTensor(operation, 'permutation.slots', slots, slotsRule, stream);
    const shape = [this.#range.local + 1];
    const offsetsRule = { dtypes, shape, dimensions: ['localExperts + 1'] };
    checkTensor(operation, 'permutation.offsets', offsets, offsetsRule, stream);
  }

  #shape({ hidden, topk }: RoutedExpertsInput): ExpertsShape {
    return {
      tokens: hidden.shape[0] ?? 0,
      k: topk.ids.shape[1] ?? 0,
      localExperts: this.#range.local,
      hidden: this.hidden,
      intermediate: this.intermediate,
      weights: this.#format,
      activations: activationDtype(hidden.dtype),
    };
  }
}

function checkWeights({ w13, w2 }: RoutedExpertsWeights, experts: number): void {
  const [, hidden = 0, intermediate = 0] = w2.data.shape;
  const w2Rule = {
    argument: 'w2',
    experts,
    rows: null,
    rowsName: 'hidden',
    columns: null,
    columnsName: 'intermediate',
  };
  checkExpertWeight(operation, w2, w2Rule, w2.data);
  const w13Rule = {
    argument: 'w13',
    experts,
    rows: 2 * intermediate,
    rowsName: '2 · intermediate',
    columns: hidden,
    columnsName: 'hidden',
  };
  checkExpertWeight(operation, w13, w13Rule, w2.data);
  if (w13.data.dtype !== w2.data.dtype) {
    const problem = `w13 and w2 must have one format, got ${w13.data.dtype} and ${w2.data.dtype}`;
    throw new ArgumentRangeError(operation, problem);
  }
}

function weightBytes({ data, scales }: ExpertWeight): number {
  return data.bytes + (scales?.bytes ?? 0);
}
