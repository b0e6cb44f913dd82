import { dependentConfig, type OperationOptions, type Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ArgumentRangeError, ShapeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { planSwigluOai } from './swiglu-oai.plan.js';

/** Gate and up, in one tensor or in two. */
export type SwigluOaiInput =
  | {
      /** bf16 or f32 `[tokens, 2 · intermediate]`: gate first, then up; rows may be apart. */
      readonly gateUp: Tensor;
    }
  | {
      /** bf16 or f32 `[tokens, intermediate]`; rows are dense but may be apart. */
      readonly gate: Tensor;
      /** Dtype and shape of `gate`; its own row stride. */
      readonly up: Tensor;
    };

/** Constants and place of the output. */
export interface SwigluOaiOptions extends OperationOptions {
  /** Slope inside the sigmoid. Default 1.702. */
  readonly alpha?: number | undefined;
  /** Added to the clamped up. Default 1. */
  readonly beta?: number | undefined;
  /** Upper clamp of gate, both clamps of up; above 0, `Infinity` = none. Default 7. */
  readonly limit?: number | undefined;
  /** `[tokens, intermediate]`, contiguous; made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * SwiGLU of gpt-oss and MiniMax-M3: g = min(gate, limit), u = clamp(up, ±limit),
 * y = round(g · sigmoid(alpha · g) · (u + beta)). Gate has no lower clamp; NaN stays NaN.
 *
 * @returns `[tokens, intermediate]`, dtype of the input
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError, NotLoadedError
 * @see docs/swiglu-oai.md
 */
export function swigluOai(input: SwigluOaiInput, options: SwigluOaiOptions): Tensor {
  const { stream, alpha = 1.702, beta = 1, limit = 7 } = options;
  checkConstants(alpha, beta, limit);
  const { gate, up } = gateAndUp(input, options);
  const [tokens = 0, intermediate = 0] = gate.shape;
  const dtype = gate.dtype as 'bf16' | 'f32';
  const y = outputTensor('swigluOai', 'out', options.out, gate, options);
  if (y.elements === 0) return y;
  const plan = planSwigluOai({ tokens, intermediate, dtype });
  const kernel = denseKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    gate,
    up,
    y,
    gate_stride: gate.strides[0] ?? intermediate,
    up_stride: up.strides[0] ?? intermediate,
    tokens,
    intermediate,
    alpha,
    beta,
    limit,
  });
  return y;
}

function checkConstants(alpha: number, beta: number, limit: number): void {
  const isRight = { alpha: Number.isFinite(alpha), beta: Number.isFinite(beta), limit: limit > 0 };
  for (const [argument, right] of Object.entries(isRight)) {
    if (right) continue;
    const expected = argument === 'limit' ? 'a number above 0 (Infinity = none)' : 'finite';
    const received = { alpha, beta, limit }[argument];
    const detail = `must be ${expected}, got ${received}. MiniMax-M3 has 1.702, 1 and 7.`;
    throw new ArgumentRangeError('swigluOai', argument, detail);
  }
}

function gateAndUp(
  input: SwigluOaiInput,
  { stream }: SwigluOaiOptions,
): { gate: Tensor; up: Tensor } {
  const dtypes = ['bf16', 'f32'] as const;
  const checks = checksOf('swigluOai', stream);
  if ('gateUp' in input) {
    const { gateUp } = input;
    const shape = ['tokens', '2 * intermediate'];
    checks.tensor('gateUp', gateUp, { dtypes, shape, layout: 'rows' });
    const columns = gateUp.shape[1] ?? 0;
    if (columns % 2 !== 0) {
      const detail = `must have an even number of columns, gate then up, got ${columns}.`;
      throw new ShapeError('swigluOai', 'gateUp', detail);
    }
    const half = columns / 2;
    // The caller owns the memory; halves that are forgotten here must not keep it.
    const both = gateUp.borrow();
    return { gate: both.slice(1, 0, half), up: both.slice(1, half, columns) };
  }
  const { gate, up } = input;
  const shape = ['tokens', 'intermediate'];
  checks.tensor('gate', gate, { dtypes, shape, layout: 'rows' });
  const like = { dtypes: [gate.dtype], shape: gate.shape, layout: 'rows' } as const;
  checks.tensor('up', up, like);
  return { gate, up };
}
