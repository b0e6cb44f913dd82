import {
  dependentConfig,
  type OperationOptions,
  type Stream,
  type Tensor,
  withScratchBytes,
} from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { DTypeError } from './errors/index.js';
import { planLinear } from './linear.plan.js';
import { checkLinearWeight, type LinearWeight } from './linear.weight.js';
import { denseKernel } from './module.js';

/** What is multiplied. */
export interface LinearInput {
  /** f32 or bf16 `[tokens, in]`; rows are dense, may be apart (a slice of columns). */
  readonly x: Tensor;
  /** `[out, in]`, see `LinearWeight`. */
  readonly weight: LinearWeight;
  /** Data type of the result. Default: that of `x`. */
  readonly outDtype?: 'f32' | 'bf16' | undefined;
}

/** Place of the output. */
export interface LinearOptions extends OperationOptions {
  /** `outDtype` `[tokens, out]`; rows are dense, may be apart. Made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * y = x · weightᵀ: weights and activations widened exactly, fp32 accumulation, one rounding.
 * A row of y depends on its row of x and the weights alone, bit for bit; not on the batch around it
 * and not on the number of threads.
 *
 * @returns `outDtype` `[tokens, out]`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/linear.md
 */
export function linear(input: LinearInput, options: LinearOptions): Tensor {
  const { x, weight } = input;
  const { stream, allocator = stream } = options;
  checksOf('linear', stream).tensor('x', x, {
    dtypes: ['f32', 'bf16'],
    shape: ['tokens', 'in'],
    layout: 'rows',
  });
  const [tokens = 0, columns = 0] = x.shape;
  const facts = checkLinearWeight('linear', 'weight', weight, stream, columns);
  const y = makeOutput(input, options, [tokens, facts.out]);
  if (tokens === 0 || facts.out === 0) return y;
  const dtypes = { weight: facts.kind, x: floatKind(x.dtype), y: floatKind(y.dtype) };
  const isAligned = rowsAreAligned(x) && rowsAreAligned(weight.data);
  const shape = { tokens, in: columns, out: facts.out, ...dtypes, isAligned };
  const plan = planLinear(shape, stream.device.limits);
  withScratchBytes(allocator, plan.workspaceBytes, 'linear scratch', (workspace) => {
    const kernel = denseKernel(stream, plan.kernel);
    stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
      x,
      weight: weight.data,
      scales: weight.scales ?? null,
      y,
      workspace,
      x_stride: rowStride(x),
      y_stride: rowStride(y),
      tokens,
      in: columns,
      out: facts.out,
      slice: plan.slice,
    });
  });
  return y;
}

function makeOutput(
  { x, outDtype }: LinearInput,
  options: LinearOptions,
  shape: readonly [number, number],
): Tensor {
  const dtype = outDtype ?? floatKind(x.dtype);
  if (dtype !== 'f32' && dtype !== 'bf16') {
    throw new DTypeError('linear', 'outDtype', `must be f32 or bf16, got ${String(dtype)}.`);
  }
  if (options.out) {
    checkOut(options.out, options.stream, dtype, shape);
    return options.out;
  }
  return outputTensor('linear', 'out', undefined, { dtype, shape }, options);
}

function checkOut(
  out: Tensor,
  stream: Stream,
  dtype: 'f32' | 'bf16',
  shape: readonly [number, number],
): void {
  checksOf('linear', stream).tensor('out', out, { dtypes: [dtype], shape, layout: 'rows' });
}

function floatKind(dtype: string): 'f32' | 'bf16' {
  return dtype === 'f32' ? 'f32' : 'bf16';
}

const vectorBytes = 16;
const elementBytes = { f32: 4, bf16: 2, e4m3: 1 };

/**
 * Whether each row begins and its last vector ends at a multiple of 16 bytes from the buffer's
 * start.
 */
function rowsAreAligned(tensor: Tensor): boolean {
  const bytes = elementBytes[tensor.dtype as keyof typeof elementBytes];
  const lengths = [rowStride(tensor) * bytes, (tensor.shape[1] ?? 0) * bytes, tensor.byteOffset];
  return lengths.every((length) => length % vectorBytes === 0);
}

function rowStride(tensor: Tensor): number {
  return tensor.strides[0] ?? 0;
}
