import { dependentConfig, type OperationOptions, type Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { planMaskLogits } from './mask-logits.plan.js';
import { denseKernel } from './module.js';

/** Logits, the rows of them that are wanted, and which ids each may choose from. */
export interface MaskLogitsInput {
  /** f32 `[rows, vocab]`; rows are dense but may be apart. */
  readonly logits: Tensor;
  /** i32 `[count]`: a row of the logits each; one outside them gives a row of −∞. */
  readonly sources: Tensor;
  /**
   * i32 `[count, ceil(vocab / 32)]`: bit `id % 32` of word `id / 32` is set where the id is
   * allowed.
   */
  readonly mask: Tensor;
}

/** Place of the masked rows. */
export interface MaskLogitsOptions extends OperationOptions {
  /** f32 `[count, vocab]`, contiguous, no part of the logits. Made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * Gathers rows of logits and puts every id that its mask forbids at −∞, for sampling under a
 * grammar. The logits stay as they are, so that log-probabilities under the model can still be
 * read.
 *
 * @returns f32 `[count, vocab]`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/mask-logits.md
 */
export function maskLogits(input: MaskLogitsInput, options: MaskLogitsOptions): Tensor {
  const { logits, sources, mask } = input;
  const { stream } = options;
  const checks = checksOf('maskLogits', stream);
  checks.tensor('logits', logits, { dtypes: ['f32'], shape: ['rows', 'vocab'], layout: 'rows' });
  checks.tensor('sources', sources, { dtypes: ['i32'], shape: ['count'] });
  const [rows = 0, vocab = 0] = logits.shape;
  const [count = 0] = sources.shape;
  const words = Math.ceil(vocab / 32);
  checks.tensor('mask', mask, { dtypes: ['i32'], shape: [count, words] });
  const rule = { shape: [count, vocab], dtype: 'f32' } as const;
  const y = outputTensor('maskLogits', 'out', options.out, rule, options);
  if (y.elements === 0) return y;
  const plan = planMaskLogits({ count, vocab }, stream.device.limits);
  const kernel = denseKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    logits,
    sources,
    mask,
    y,
    logits_stride: logits.strides[0] ?? vocab,
    count,
    rows,
    vocab,
    words,
  });
  return y;
}
