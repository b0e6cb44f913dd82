import { dependentConfig, type OperationOptions, type Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { type EmbeddingDType, planEmbedding } from './embedding.plan.js';
import { DTypeError } from './errors/index.js';
import { denseKernel } from './module.js';

/** Ids are i32. */
const maxId = 2 ** 31 - 1;

/** A table and the rows wanted of it. */
export interface EmbeddingInput {
  /** bf16 or f32 `[rows, hidden]`; rows are dense but may be apart. */
  readonly table: Tensor;
  /** i32 `[tokens]`; −1, or any id outside the table, gives a row of zeros. */
  readonly ids: Tensor;
  /** Id of the table's first row, for a part of a larger table. Default 0. */
  readonly firstId?: number | undefined;
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
 * With `firstId` the table is a part of a larger one: the sum over all parts is the whole lookup,
 * exactly, since every id is a row of one part and zeros of the others.
 *
 * @returns `[tokens, hidden]` of `outDType`
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError, NotLoadedError
 * @see docs/embedding.md
 */
export function embedding(input: EmbeddingInput, options: EmbeddingOptions): Tensor {
  const { table, ids, firstId = 0 } = input;
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
  checks.whole('firstId', firstId, 0, maxId);
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
  const kernel = denseKernel(stream, plan.kernel);
  stream.launch(kernel, dependentConfig(kernel, plan.config, options), {
    table,
    ids,
    y,
    table_stride: table.strides[0] ?? hidden,
    tokens,
    rows,
    hidden,
    first_id: firstId,
  });
  return y;
}
