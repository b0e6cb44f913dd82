import {
  type DType,
  type OperationOptions,
  type Tensor,
  withScratchBytes,
} from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ShapeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { planSampling } from './sampling.plan.js';

/**
 * Logits and, a row each, how to draw from them. All on the device, so a graph replays with new
 * values.
 */
export interface SampleInput {
  /** f32 `[rows, vocab]`; rows are dense but may be apart. NaN counts as −∞. */
  readonly logits: Tensor;
  /** f32 `[rows]`; 0 or below = the largest logit, ties to the lower id. */
  readonly temperature: Tensor;
  /** i32 `[rows]`; keeps so many ids, 0 or below = off. */
  readonly topK: Tensor;
  /** f32 `[rows]`; keeps the likeliest ids until they reach this share, 1 = off. */
  readonly topP: Tensor;
  /** f32 `[rows]`; keeps ids at least this likely relative to the likeliest, 0 = off. */
  readonly minP: Tensor;
  /** i64 `[rows]`; key of the random numbers. */
  readonly seeds: Tensor;
  /** i32 `[rows]`; counter of the random numbers. Negative = padding row: id −1, logprob 0. */
  readonly positions: Tensor;
}

/** Place of the outputs. */
export interface SampleOptions extends OperationOptions {
  readonly out?: { readonly ids: Tensor; readonly logprobs: Tensor } | undefined;
}

/** What was drawn. */
export interface SampleResult {
  /** i32 `[rows]` */
  readonly ids: Tensor;
  /** f32 `[rows]`: log-softmax of the raw logits at the id, before temperature and filters. */
  readonly logprobs: Tensor;
}

/**
 * Draws one id a row: temperature, then top-k, top-p, min-p, then one random number.
 * A row depends on nothing but its own inputs; the same seed and position give the same number.
 * A row without a usable logit gives id 0 and logprob NaN.
 *
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/sampling.md for order, ties and the generator
 */
export function sample(input: SampleInput, options: SampleOptions): SampleResult {
  const { stream, allocator = stream } = options;
  const { rows, vocab } = checkSample(input, options);
  const place = (name: 'ids' | 'logprobs', dtype: DType) => {
    const rule = { shape: [rows], dtype };
    return outputTensor('sample', `out.${name}`, options.out?.[name], rule, options);
  };
  const result = { ids: place('ids', 'i32'), logprobs: place('logprobs', 'f32') };
  if (rows === 0) return result;
  const plan = planSampling({ rows, vocab }, stream.device.limits);
  withScratchBytes(allocator, plan.workspaceBytes, 'sample scratch', (workspace) => {
    for (const { kernel, config, firstRow } of plan.launches) {
      stream.launch(denseKernel(stream, kernel), config, {
        logits: input.logits,
        temperature: input.temperature,
        top_k: input.topK,
        top_p: input.topP,
        min_p: input.minP,
        seeds: input.seeds,
        positions: input.positions,
        ids: result.ids,
        logprobs: result.logprobs,
        workspace,
        logits_stride: input.logits.strides[0] ?? vocab,
        rows,
        vocab,
        slots: plan.slots,
        first_row: firstRow,
      });
    }
  });
  return result;
}

const rowDTypes = {
  temperature: 'f32',
  topK: 'i32',
  topP: 'f32',
  minP: 'f32',
  seeds: 'i64',
  positions: 'i32',
} as const;

function checkSample(input: SampleInput, { stream }: SampleOptions) {
  const checks = checksOf('sample', stream);
  checks.tensor('logits', input.logits, {
    dtypes: ['f32'],
    shape: ['rows', 'vocab'],
    layout: 'rows',
  });
  const [rows = 0, vocab = 0] = input.logits.shape;
  if (vocab === 0) {
    throw new ShapeError('sample', 'logits', 'must have at least one column, got [rows, 0].');
  }
  for (const [name, dtype] of Object.entries(rowDTypes)) {
    const tensor = input[name as keyof typeof rowDTypes];
    const rule = { dtypes: [dtype], shape: [rows] };
    checks.tensor(name, tensor, rule);
  }
  return { rows, vocab };
}
