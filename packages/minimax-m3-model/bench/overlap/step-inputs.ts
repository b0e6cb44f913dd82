// Device tensors of one pass: a token of each of several long sequences, or one prompt.
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelBatch } from '../../src/index.js';
import type { KvCache } from '../../src/kv-cache.js';
import { RandomFill } from '../../src/loader/dummy/random-fill.js';

/** Standard deviation of keys after their norm is about one. */
const cacheWidth = 4;

/** A batch with what sampling its rows takes. */
export interface StepInputs {
  readonly batch: ModelBatch;
  readonly sampling: Readonly<
    Record<'temperature' | 'topK' | 'topP' | 'minP' | 'seeds' | 'positions', Tensor>
  >;
  /** Writes other tokens, which depend on `turn` only. */
  begin(turn: number): void;
  dispose(): void;
}

/** Fills every page with random keys and values, as if prompts had been read. */
export async function fillCache(cache: KvCache, stream: Stream, seed: number): Promise<void> {
  const random = new RandomFill(seed, 2 ** 24);
  for (const [layer, { k, v, indexKeys }] of cache.layers.entries()) {
    await random.fill(`cache.${layer}.k`, cacheWidth, k, stream);
    await random.fill(`cache.${layer}.v`, cacheWidth, v, stream);
    if (indexKeys) await random.fill(`cache.${layer}.index`, cacheWidth, indexKeys, stream);
  }
  await stream.synchronize();
  random.dispose();
}

/** Where tokens lie: sequence and position of each, and the rows whose logits are wanted. */
interface Layout {
  readonly sequences: number;
  /** Pages of each sequence. */
  readonly pages: number;
  readonly sequenceOf: (token: number) => number;
  readonly positionOf: (token: number) => number;
  readonly tokens: number;
  readonly rows: readonly number[];
}

/** Decode: the last token of each of `batch` sequences of `context` tokens. */
export function decodeInputs(
  stream: Stream,
  model: { readonly pageTokens: number; readonly vocabSize: number },
  { batch, context }: { readonly batch: number; readonly context: number },
): StepInputs {
  const sequence = Array.from({ length: batch }, (_, i) => i);
  return makeInputs(stream, model, {
    sequences: batch,
    pages: Math.ceil(context / model.pageTokens),
    tokens: batch,
    sequenceOf: (token) => token,
    positionOf: () => context - 1,
    rows: sequence,
  });
}

/** Prefill: all tokens of one prompt; the logits of the last are wanted. */
export function prefillInputs(
  stream: Stream,
  model: { readonly pageTokens: number; readonly vocabSize: number },
  tokens: number,
): StepInputs {
  return makeInputs(stream, model, {
    sequences: 1,
    pages: Math.ceil(tokens / model.pageTokens),
    tokens,
    sequenceOf: () => 0,
    positionOf: (token) => token,
    rows: [tokens - 1],
  });
}

function makeInputs(
  stream: Stream,
  { pageTokens, vocabSize }: { readonly pageTokens: number; readonly vocabSize: number },
  layout: Layout,
): StepInputs {
  const { tokens, sequences, pages, rows, sequenceOf, positionOf } = layout;
  const owned: Tensor[] = [];
  const make = (
    name: string,
    values: Int32Array | Float32Array | BigInt64Array,
    shape?: number[],
  ) => {
    const dtype =
      values instanceof Float32Array ? 'f32' : values instanceof Int32Array ? 'i32' : 'i64';
    const tensor = stream.tensor(shape ?? [values.length], dtype, `bench.${name}`);
    stream.write(tensor, values);
    owned.push(tensor);
    return tensor;
  };
  const perToken = (value: (token: number) => number) =>
    Int32Array.from({ length: tokens }, (_, token) => value(token));
  const perRow = (value: number) => new Float32Array(rows.length).fill(value);
  const slotOf = (token: number) => sequenceOf(token) * pages * pageTokens + positionOf(token);
  const tokensOf = (turn: number) =>
    perToken((token) => (Math.imul(token + 1 + 977 * turn, 0x9e3779b1) >>> 8) % vocabSize);
  const tokenIds = make('tokenIds', tokensOf(0));
  const batch = {
    tokenIds,
    positions: make('positions', perToken(positionOf)),
    sequenceIds: make('sequenceIds', perToken(sequenceOf)),
    slots: make('slots', perToken(slotOf)),
    pageTable: make(
      'pageTable',
      Int32Array.from({ length: sequences * pages }, (_, i) => i),
      [sequences, pages],
    ),
    rows: make('rows', Int32Array.from(rows)),
  };
  return {
    batch,
    // The defaults of the release.
    sampling: {
      temperature: make('temperature', perRow(1)),
      topK: make('topK', new Int32Array(rows.length).fill(40)),
      topP: make('topP', perRow(0.95)),
      minP: make('minP', perRow(0)),
      seeds: make(
        'seeds',
        BigInt64Array.from(rows, (row) => BigInt(row)),
      ),
      positions: make(
        'samplePositions',
        Int32Array.from(rows, (row) => positionOf(row) + 1),
      ),
    },
    begin: (turn) => {
      stream.write(tokenIds, tokensOf(turn));
    },
    dispose: () => {
      for (const tensor of owned) tensor.dispose();
    },
  };
}
