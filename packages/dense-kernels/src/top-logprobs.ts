import {
  type OperationOptions,
  type Stream,
  type Tensor,
  withScratchBytes,
} from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ArgumentRangeError, ShapeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { planTopLogprobs } from './top-logprobs.plan.js';

/** Logits, and one id a row whose log-probability is wanted. */
export interface TopLogprobsInput {
  /** f32 `[rows, vocab]`; rows are dense but may be apart. NaN counts as −∞. */
  readonly logits: Tensor;
  /** i32 `[rows]`; an id outside the vocabulary, −1 among them, marks a padding row. */
  readonly ids: Tensor;
  /** Best ids wanted a row, 0 … min(vocab, 256). The cost grows with it; OpenAI allows 20. */
  readonly count: number;
}

/** Log-softmax of the raw logits. A padding row has logprobs 0 and ids −1. */
export interface TopLogprobsResult {
  /** f32 `[rows]`, at the given ids. */
  readonly chosen: Tensor;
  /** i32 `[rows, count]`, likeliest first, ties to the lower id. */
  readonly ids: Tensor;
  /** f32 `[rows, count]`, beside `ids`. */
  readonly logprobs: Tensor;
}

/** Place of the outputs. */
export interface TopLogprobsOptions extends OperationOptions {
  readonly out?: TopLogprobsResult | undefined;
}

const maxCount = 256;

/**
 * Log-probabilities at the given ids and at the `count` likeliest ids of each row.
 * A row without a usable logit gives NaN.
 *
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError (count), NotLoadedError
 * @see docs/top-logprobs.md
 */
export function topLogprobs(
  input: TopLogprobsInput,
  options: TopLogprobsOptions,
): TopLogprobsResult {
  const { logits, ids, count } = input;
  const { stream, allocator = stream } = options;
  const { rows, vocab } = checkTopLogprobs(input, stream);
  const place = (name: keyof TopLogprobsResult, shape: readonly number[], dtype: 'f32' | 'i32') =>
    outputTensor('topLogprobs', `out.${name}`, options.out?.[name], { shape, dtype }, options);
  const result = {
    chosen: place('chosen', [rows], 'f32'),
    ids: place('ids', [rows, count], 'i32'),
    logprobs: place('logprobs', [rows, count], 'f32'),
  };
  if (rows === 0) return result;
  const plan = planTopLogprobs({ rows, vocab, count }, stream.device.limits);
  const launch = (workspace: Tensor | null) => {
    for (const { kernel, config, firstRow } of plan.launches) {
      stream.launch(denseKernel(stream, kernel), config, {
        logits,
        ids,
        chosen: result.chosen,
        best_ids: count > 0 ? result.ids : null,
        best_logprobs: count > 0 ? result.logprobs : null,
        workspace,
        logits_stride: logits.strides[0] ?? vocab,
        rows,
        vocab,
        count,
        first_row: firstRow,
      });
    }
  };
  if (plan.workspaceBytes === 0) launch(null);
  else withScratchBytes(allocator, plan.workspaceBytes, 'topLogprobs scratch', launch);
  return result;
}

function checkTopLogprobs({ logits, ids, count }: TopLogprobsInput, stream: Stream) {
  const checks = checksOf('topLogprobs', stream);
  checks.tensor('logits', logits, {
    dtypes: ['f32'],
    shape: ['rows', 'vocab'],
    layout: 'rows',
  });
  const [rows = 0, vocab = 0] = logits.shape;
  if (vocab === 0) {
    throw new ShapeError('topLogprobs', 'logits', 'must have at least one column, got [rows, 0].');
  }
  const rule = { dtypes: ['i32'], shape: [rows] } as const;
  checks.tensor('ids', ids, rule);
  const most = Math.min(vocab, maxCount);
  if (!Number.isInteger(count) || count < 0 || count > most) {
    const detail = `must be an integer from 0 to ${most} (vocab ${vocab}), got ${count}.`;
    throw new ArgumentRangeError('topLogprobs', 'count', detail);
  }
  return { rows, vocab };
}
