import {
  dependentConfig,
  type OperationOptions,
  type Stream,
  type Tensor,
} from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ArgumentRangeError, ShapeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { planRmsNorm } from './rms-norm.plan.js';

/** What is normed, and with which weight. */
export interface RmsNormInput {
  /** bf16 or f32 `[tokens, hidden]` or `[tokens, heads, headDim]`; rows are dense, may be apart. */
  readonly x: Tensor;
  /** bf16 or f32 `[hidden]` or `[headDim]`, the same for all rows. */
  readonly weight: Tensor;
  /** Dtype and shape of `x`, contiguous: added before the norm. */
  readonly residual?: Tensor | undefined;
}

/** Variant and place of the outputs. */
export interface RmsNormOptions extends OperationOptions {
  /** Added to the mean square. Default 1e-6. */
  readonly epsilon?: number | undefined;
  /** `true` (default): multiply by 1 + weight, formed in fp32. `false`: by weight. */
  readonly gemma?: boolean | undefined;
  /** Dtype and shape of `x`, rows dense; may be `x`. Made if left out. */
  readonly out?: Tensor | undefined;
  /** Dtype and shape of `x`, contiguous; may be `residual`. Made if left out. */
  readonly residualOut?: Tensor | undefined;
}

/** The normed sum and the sum itself. */
export interface AddedRmsNorm {
  /** Norm of the unrounded sum, dtype and shape of `x`. */
  readonly y: Tensor;
  /** round(x + residual), dtype and shape of `x`. */
  readonly residual: Tensor;
}

/**
 * RMSNorm: y = round(s · rsqrt(mean(s²) + epsilon) · (1 + weight)), fp32 inside, one rounding.
 * With a residual, s is the unrounded fp32 sum x + residual, and the rounded sum is returned too.
 *
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError (epsilon), NotLoadedError
 * @see docs/rms-norm.md
 */
export function rmsNorm(
  input: RmsNormInput & { readonly residual: Tensor },
  options: RmsNormOptions,
): AddedRmsNorm;
/** Without a residual there is only the norm to return. */
export function rmsNorm(
  input: RmsNormInput & { readonly residual?: undefined },
  options: RmsNormOptions,
): Tensor;
/** For callers that learn at run time whether there is a residual. */
export function rmsNorm(input: RmsNormInput, options: RmsNormOptions): Tensor | AddedRmsNorm;
/** One launch in every case; the pointers of the residual are null without one. */
export function rmsNorm(input: RmsNormInput, options: RmsNormOptions): Tensor | AddedRmsNorm {
  const { x, weight, residual } = input;
  const { stream, epsilon = 1e-6, gemma = true } = options;
  const shape = checkRmsNorm(input, stream, epsilon);
  const y = options.out
    ? checkRows('out', options.out, x, stream)
    : outputTensor('rmsNorm', 'out', undefined, x, options);
  const sum = residual
    ? outputTensor('rmsNorm', 'residualOut', options.residualOut, x, options)
    : null;
  if (x.elements > 0) {
    const plan = planRmsNorm(shape);
    const kernel = denseKernel(stream, plan.kernel);
    stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
      x,
      residual: residual ?? null,
      weight,
      residual_out: sum,
      y,
      x_token_stride: x.strides[0] ?? 0,
      x_head_stride: headStride(x),
      y_token_stride: y.strides[0] ?? 0,
      y_head_stride: headStride(y),
      tokens: shape.tokens,
      heads: shape.heads,
      hidden: shape.hidden,
      weight_is_bf16: weight.dtype === 'bf16',
      epsilon,
      weight_offset: gemma ? 1 : 0,
    });
  }
  return sum ? { y, residual: sum } : y;
}

function checkRmsNorm({ x, weight, residual }: RmsNormInput, stream: Stream, epsilon: number) {
  const checks = checksOf('rmsNorm', stream);
  checks.tensor('x', x, { dtypes: ['bf16', 'f32'], layout: 'any' });
  if (x.rank !== 2 && x.rank !== 3) {
    const expected = '[tokens, hidden] or [tokens, heads, headDim]';
    throw new ShapeError('rmsNorm', 'x', `must be ${expected}, got [${x.shape.join(', ')}].`);
  }
  checkRows('x', x, x, stream);
  const hidden = x.shape.at(-1) ?? 0;
  checks.tensor('weight', weight, {
    dtypes: ['bf16', 'f32'],
    shape: [hidden],
  });
  if (residual) {
    const { dtype, shape } = x;
    const rule = { dtypes: [dtype], shape };
    checks.tensor('residual', residual, rule);
  }
  if (!(epsilon >= 0 && Number.isFinite(epsilon))) {
    const detail = `must be a finite number, 0 or above, got ${epsilon}. MiniMax-M3 has 1e-6.`;
    throw new ArgumentRangeError('rmsNorm', 'epsilon', detail);
  }
  const heads = x.rank === 3 ? (x.shape[1] ?? 0) : 1;
  return { tokens: x.shape[0] ?? 0, heads, hidden, dtype: x.dtype as 'bf16' | 'f32' };
}

/** Dtype and shape of `like`, each row dense, rows not overlapping. */
function checkRows(argument: string, tensor: Tensor, like: Tensor, stream: Stream): Tensor {
  const { dtype, shape } = like;
  checksOf('rmsNorm', stream).tensor(argument, tensor, { dtypes: [dtype], shape, layout: 'any' });
  const hidden = shape.at(-1) ?? 0;
  const isDense = hidden <= 1 || tensor.strides.at(-1) === 1;
  const isApart = shape
    .slice(0, -1)
    .every((size, dim) => size <= 1 || (tensor.strides[dim] ?? 0) >= hidden);
  if (isDense && isApart) return tensor;
  throw new ShapeError(
    'rmsNorm',
    argument,
    `must have dense rows of ${hidden} that do not overlap, got strides ` +
      `[${tensor.strides.join(', ')}] for shape [${shape.join(', ')}]. Copy it first.`,
  );
}

function headStride(tensor: Tensor): number {
  return tensor.rank === 3 ? (tensor.strides[1] ?? 0) : 0;
}
