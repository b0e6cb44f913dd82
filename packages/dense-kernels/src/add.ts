import { dependentConfig, type OperationOptions, type Tensor } from '@altstream/cuda-runtime';
import { planAdd } from './add.plan.js';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { denseKernel } from './module.js';

/** The two terms. */
export interface AddInput {
  /** bf16 or f32, any shape, contiguous. */
  readonly a: Tensor;
  /** Dtype and shape of `a`, contiguous. */
  readonly b: Tensor;
}

/** Place of the sum. */
export interface AddOptions extends OperationOptions {
  /** Dtype and shape of `a`, contiguous; may be `a` or `b`. Made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * y = a + b, added in fp32 and rounded once: routed + shared experts, residual adds.
 *
 * @returns the sum, dtype and shape of `a`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/add.md
 */
export function add(input: AddInput, options: AddOptions): Tensor {
  const { a, b } = input;
  const { stream } = options;
  const checks = checksOf('add', stream);
  checks.tensor('a', a, { dtypes: ['bf16', 'f32'] });
  const { shape, dtype } = a;
  checks.tensor('b', b, { dtypes: [dtype], shape });
  const y = outputTensor('add', 'out', options.out, { shape, dtype }, options);
  if (y.elements === 0) return y;
  const count = a.elements;
  const plan = planAdd({ count, dtype: dtype as 'bf16' | 'f32' }, stream.device.limits);
  const kernel = denseKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), { a, b, y, count });
  return y;
}
