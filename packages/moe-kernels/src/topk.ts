import type { DType, Stream, Tensor, TensorAllocator } from '@altstream/cuda-runtime';
import { checkTensor } from './arguments/checks.js';
import { ArgumentRangeError } from './errors/index.js';
import { moeKernel } from './module.js';
import { type PdlChooser, withoutPdl } from './pdl.js';
import { resolveTopk, type TopkConfig, type TopkSettings } from './routing/topk-config.js';
import { planTopk, type TopkShape } from './topk.plan.js';

/** What is routed. */
export interface TopkInput {
  /** [tokens, experts] f32 or bf16, router output. */
  readonly logits: Tensor;
  /**
   * [experts] f32, `e_score_correction_bias`: helps to choose, never weighs. A weight of the model:
   * a programmatic launch reads it before it waits.
   */
  readonly routingBias?: Tensor;
  /** [tokens] i32; −1 = padding row: ids −1, weights 0. */
  readonly positions?: Tensor;
  /**
   * [1] i32 for `nanPolicy: 'flag'`; set to 1 when a logit of a real row was NaN, never cleared.
   */
  readonly status?: Tensor;
}

/** Where and how the operation runs. */
export interface TopkOptions {
  readonly stream: Stream;
  /** Of the outputs; default the stream. */
  readonly allocator?: TensorAllocator;
  /** Outputs to write instead of new ones. */
  readonly out?: TopkResult;
  /** Also write `packed`, default false. */
  readonly packed?: boolean;
  /** Programmatic launch; default never. */
  readonly pdl?: PdlChooser;
}

/** Chosen experts and their weights; slots = topK + fused shared experts. */
export interface TopkResult {
  /**
   * [tokens, slots] i32, best first, ties to the lower id, never twice the same; −1 in padding
   * rows.
   */
  readonly ids: Tensor;
  /** [tokens, slots] f32. */
  readonly weights: Tensor;
  /** [tokens, slots] i32: id << 16 | bf16 bits of the weight. */
  readonly packed?: Tensor;
  /** Routed scaling factor that the weights already contain; absent = unknown. */
  readonly scaledBy?: number;
}

/**
 * Picks the experts of each token and weighs them. Scores and weights are fp32 whatever the logits
 * are; the weight is gathered from the raw score, so the bias cannot leak into it.
 *
 * No tokens: empty outputs, nothing is launched, the configuration is still checked.
 *
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError (a bad option), NotLoadedError
 * @see docs/topk.md for equations, ties, NaN policy and sources
 */
export function topk(input: TopkInput, config: TopkConfig, options: TopkOptions): TopkResult {
  const { stream } = options;
  const { settings, shape, out } = prepareTopk('topk', input, config, options);
  const { tokens, experts } = shape;
  if (tokens === 0) return out;
  const plan = planTopk(shape, stream.device.limits, options.pdl ?? withoutPdl);
  stream.launch(moeKernel(stream, plan.kernel), plan.config, {
    logits: input.logits,
    bias: input.routingBias ?? null,
    positions: input.positions ?? null,
    ids: out.ids,
    weights: out.weights,
    packed: out.packed ?? null,
    status: input.status ?? null,
    tokens,
    experts,
    ...settings,
  });
  return out;
}

/** A checked call with its outputs, before anything is launched. */
export interface PreparedTopk {
  readonly settings: TopkSettings;
  readonly shape: TopkShape;
  readonly out: TopkResult;
}

/** Checks a call for `operation` and makes its outputs. @throws as `topk` */
export function prepareTopk(
  operation: string,
  input: TopkInput,
  config: TopkConfig,
  options: TopkOptions,
): PreparedTopk {
  const { logits } = input;
  checkTensor(operation, 'logits', logits, logitsRule, options.stream);
  const [tokens = 0, experts = 0] = logits.shape;
  const settings = resolveTopk(config, experts, {
    hasBias: input.routingBias !== undefined,
    operation,
  });
  checkInputs(operation, input, config, options);
  const { k, shared, groups, score, normalize } = settings;
  const recipe = { k, shared, groups, score, normalize };
  const shape = { tokens, experts, ...recipe, logitsDtype: logitsDtype(logits.dtype) };
  return { settings, shape, out: outputs(operation, tokens, settings, options) };
}

const logitsRule = {
  dtypes: ['f32', 'bf16'],
  shape: [null, null],
  dimensions: ['tokens', 'experts'],
} as const;

function logitsDtype(dtype: DType): 'f32' | 'bf16' {
  return dtype === 'bf16' ? 'bf16' : 'f32';
}

function checkInputs(
  operation: string,
  { logits, routingBias, positions, status }: TopkInput,
  { nanPolicy }: TopkConfig,
  { stream }: TopkOptions,
): void {
  const vector = (argument: string, tensor: Tensor | undefined, name: string, size: number) => {
    if (tensor === undefined) return;
    const dtypes = argument === 'routingBias' ? (['f32'] as const) : (['i32'] as const);
    const rule = { dtypes, shape: [size], dimensions: [name] };
    checkTensor(operation, argument, tensor, rule, stream);
  };
  vector('routingBias', routingBias, 'experts', logits.shape[1] ?? 0);
  vector('positions', positions, 'tokens', logits.shape[0] ?? 0);
  vector('status', status, '1', 1);
  if ((nanPolicy === 'flag') !== (status !== undefined)) {
    throw new ArgumentRangeError(operation, "status and nanPolicy 'flag' need each other");
  }
}

function outputs(
  operation: string,
  tokens: number,
  { k, shared, scale }: TopkSettings,
  { stream, allocator = stream, out, packed = out?.packed !== undefined }: TopkOptions,
): TopkResult {
  const shape = [tokens, k + shared];
  const take = (name: 'ids' | 'weights' | 'packed', dtype: DType): Tensor => {
    const given = out?.[name];
    if (given === undefined) return allocator.tensor(shape, dtype, `topk.${name}`);
    const rule = { dtypes: [dtype], shape, dimensions: ['tokens', 'slots'] };
    checkTensor(operation, `out.${name}`, given, rule, stream);
    return given;
  };
  const result = {
    ids: take('ids', 'i32'),
    weights: take('weights', 'f32'),
    scaledBy: scale,
  };
  return packed ? { ...result, packed: take('packed', 'i32') } : result;
}
