import type { OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { planAdjustLogits } from './adjust-logits.plan.js';
import { checksOf } from './checks.js';
import { ShapeError } from './errors/index.js';
import { denseKernel } from './module.js';

/**
 * Logits and, a row each, what changes them. All on the device, so a graph replays with new values.
 */
export interface AdjustLogitsInput {
  /** f32 `[rows, vocab]`, changed in place; rows are dense but may be apart. */
  readonly logits: Tensor;
  /** f32 `[rows, vocab]`, dense: keeps the logits of changed rows until `restoreLogits`. */
  readonly raw: Tensor;
  /** i32 `[rows]`: 0 = the row stays as it is; 1 = penalties, 2 = entries, 3 = both. */
  readonly flags: Tensor;
  /** i32 `[rows, vocab]`: 2 × times the id was generated, + 1 if the prompt has it. */
  readonly counts: Tensor;
  /**
   * f32 `[rows]`, above 0: divides positive and multiplies negative logits of ids seen; 1 = off.
   */
  readonly repetition: Tensor;
  /** f32 `[rows]`: taken off for each time the id was generated; 0 = off. */
  readonly frequency: Tensor;
  /** f32 `[rows]`: taken off if the id was generated; 0 = off. */
  readonly presence: Tensor;
  /**
   * i32 `[rows, entries]`: ids of the list, −1 = none. No two finite values of a row have one id.
   */
  readonly entryIds: Tensor;
  /** f32 `[rows, entries]`: added to the logit; −∞ removes the id, after all additions. */
  readonly entryValues: Tensor;
  /** i32 `[rows, entries]`: an entry holds at positions below this one. */
  readonly entryUntil: Tensor;
  /**
   * i32 `[rows]`: position of the token to be drawn. Negative = padding row, which is left alone.
   */
  readonly positions: Tensor;
}

/** What was drawn from changed logits. */
export interface RestoreLogitsInput extends AdjustLogitsInput {
  /** i32 `[rows]`; an id outside the vocabulary is not counted. */
  readonly ids: Tensor;
  /** f32 `[rows]`: gets log-softmax of the raw logits at the id, in changed rows; a NaN stays. */
  readonly logprobs?: Tensor | undefined;
}

/**
 * Penalties, then biases, then bans, in place and in rows with a flag only; the logits as they were
 * go to `raw`. A row depends on nothing but its own inputs.
 *
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/adjust-logits.md for order and rounding
 */
export function adjustLogits(input: AdjustLogitsInput, options: OperationOptions): void {
  launch('adjustLogits', input, options);
}

/**
 * After the draw: raw logits back in place, log-probabilities without changes, and the drawn ids
 * counted.
 *
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/adjust-logits.md
 */
export function restoreLogits(input: RestoreLogitsInput, options: OperationOptions): void {
  launch('restoreLogits', input, options);
}

function launch(
  operation: 'adjustLogits' | 'restoreLogits',
  input: AdjustLogitsInput & Partial<RestoreLogitsInput>,
  { stream }: OperationOptions,
): void {
  const { rows, vocab, entries } = check(operation, input, { stream });
  if (rows === 0) return;
  const plan = planAdjustLogits({ rows, vocab }, stream.device.limits);
  const isAdjust = operation === 'adjustLogits';
  const kernel = denseKernel(stream, isAdjust ? 'adjust_logits' : 'restore_logits');
  stream.launch(kernel, isAdjust ? plan.adjust : plan.restore, {
    logits: input.logits,
    raw: input.raw,
    flags: input.flags,
    counts: input.counts,
    repetition: input.repetition,
    frequency: input.frequency,
    presence: input.presence,
    entry_ids: input.entryIds,
    entry_values: input.entryValues,
    entry_until: input.entryUntil,
    positions: input.positions,
    ids: input.ids ?? null,
    logprobs: input.logprobs ?? null,
    logits_stride: input.logits.strides[0] ?? vocab,
    rows,
    vocab,
    entries,
  });
}

const dtypes = {
  raw: 'f32',
  counts: 'i32',
  flags: 'i32',
  repetition: 'f32',
  frequency: 'f32',
  presence: 'f32',
  positions: 'i32',
  entryIds: 'i32',
  entryValues: 'f32',
  entryUntil: 'i32',
  ids: 'i32',
  logprobs: 'f32',
} as const;

function check(
  operation: 'adjustLogits' | 'restoreLogits',
  input: AdjustLogitsInput & Partial<RestoreLogitsInput>,
  { stream }: OperationOptions,
) {
  const checks = checksOf(operation, stream);
  checks.tensor('logits', input.logits, {
    dtypes: ['f32'],
    shape: ['rows', 'vocab'],
    layout: 'rows',
  });
  const [rows = 0, vocab = 0] = input.logits.shape;
  if (vocab === 0) {
    throw new ShapeError(operation, 'logits', 'must have at least one column, got [rows, 0].');
  }
  const entries = input.entryIds.shape[1] ?? 0;
  const shapes: Partial<Record<string, readonly number[]>> = {
    raw: [rows, vocab],
    counts: [rows, vocab],
    entryIds: [rows, entries],
    entryValues: [rows, entries],
    entryUntil: [rows, entries],
  };
  for (const [name, dtype] of Object.entries(dtypes)) {
    const tensor = input[name as keyof typeof dtypes];
    const isOptional = name === 'logprobs' || (name === 'ids' && operation === 'adjustLogits');
    if (isOptional && tensor === undefined) continue;
    const rule = { dtypes: [dtype], shape: shapes[name] ?? [rows] };
    checks.tensor(name, tensor as Tensor, rule);
  }
  return { rows, vocab, entries };
}
