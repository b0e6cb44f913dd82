import type { OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { type EmbeddingDType, planEmbedding } from './embedding.plan.js';
import { DTypeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { outputTensor } from './output.js';

/** A table and the rows wanted of it. */
export interface EmbeddingInput {
  /** bf16 or f32 `[rows, hidden]`; rows are dense but may be apart. */
  readonly table: Tensor;
  /** i32 `[tokens]`; −1, or any id outside the table, gives a row of zeros. */
  readonly ids: Tensor;
}

/** Output type and place. */
export interface EmbeddingOptions extends OperationOptions {
  /** Default: the table's. Widening is exact, narrowing rounds to nearest even. */
  readonly outDType?: EmbeddingDType | undefined;
  /** `[tokens, hidden]`, contiguous; made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * Gathers rows of a table: token embeddings, or the hidden rows whose logits are wanted.
 *
 * @returns `[tokens, hidden]` of `outDType`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/embedding.md
 */
export function embedding(input: EmbeddingInput, options: EmbeddingOptions): Tensor {
  const { table, ids } = input;
  const { stream } = options;
  const checks = checksOf('embedding', stream);
  checks.tensor('table', table, {
    dtypes: ['bf16', 'f32'],
    shape: ['rows', 'hidden'],
    layout: 'rows',
  });
  checks.tensor('ids', ids, {
    dtypes: ['i32'],
    shape: ['tokens'],
  });
  const tableDType = table.dtype as EmbeddingDType;
  const outDType = options.outDType ?? tableDType;
  if (outDType !== 'bf16' && outDType !== 'f32') {
    throw new DTypeError('embedding', 'outDType', `must be bf16 or f32, got ${String(outDType)}.`);
  }
  const [rows = 0, hidden = 0] = table.shape;
  const tokens = ids.elements;
  const rule = { shape: [tokens, hidden], dtype: outDType };
  const y = outputTensor('embedding', 'out', options.out, rule, options);
  if (y.elements === 0) return y;
  const plan = planEmbedding({ tokens, hidden, tableDType, outDType });
  stream.launch(denseKernel(stream, plan.kernel), plan.config, {
    table,
    ids,
    y,
    table_stride: table.strides[0] ?? hidden,
    tokens,
    rows,
    hidden,
  });
  return y;
}
