// Ragged batches over a scrambled page pool. What no token has written stays NaN, so that a kernel
// which reads beyond a context, or a page of someone else, cannot pass.
import { roundBf16, seededRandom } from '@altstream/cuda-runtime/testing';

/** The last `tokens` positions of a sequence of `context` tokens. */
export interface SequencePart {
  readonly context: number;
  readonly tokens: number;
}

/** Sizes of a batch. */
export interface PagedBatchSpec {
  readonly dtype: 'bf16' | 'f32';
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly indexHeads: number;
  readonly indexDim: number;
  readonly pageTokens: number;
  readonly sequences: readonly SequencePart[];
  /** Padding rows behind the tokens. */
  readonly padding?: number;
  /** Tokens of the sequences take turns instead of lying together. */
  readonly interleaved?: boolean;
  readonly seed?: number;
}

/** A batch and its cache, on the host; values are representable in the spec's dtype. */
export interface PagedBatch {
  readonly spec: PagedBatchSpec;
  readonly tokens: number;
  readonly pages: number;
  readonly maxPages: number;
  readonly positions: Int32Array;
  readonly sequenceIds: Int32Array;
  readonly slots: Int32Array;
  readonly pageTable: Int32Array;
  readonly q: Float32Array;
  readonly indexQ: Float32Array;
  readonly kCache: Float32Array;
  readonly vCache: Float32Array;
  readonly indexKeys: Float32Array;
}

/** Makes a batch from its sizes; the same spec gives the same batch. */
export function makePagedBatch(spec: PagedBatchSpec): PagedBatch {
  const random = seededRandom(spec.seed ?? 1);
  const { heads, kvHeads, headDim, indexHeads, indexDim, pageTokens, sequences } = spec;
  const blocksOf = (part: SequencePart) => Math.ceil(part.context / pageTokens);
  const maxPages = Math.max(1, ...sequences.map(blocksOf)) + 1;
  const pages = sequences.reduce((sum, part) => sum + blocksOf(part), 0) + 2;
  const order = shuffled(pages, random.integer);
  const pageTable = new Int32Array(sequences.length * maxPages).fill(-1);
  for (const [sequence, part] of sequences.entries()) {
    for (let block = 0; block < blocksOf(part); block += 1) {
      pageTable[sequence * maxPages + block] = order.pop() ?? -1;
    }
  }
  const slotOf = (sequence: number, position: number) =>
    (pageTable[sequence * maxPages + Math.floor(position / pageTokens)] ?? -1) * pageTokens +
    (position % pageTokens);
  const values = (count: number) => {
    const data = random.floats(count, 2);
    return spec.dtype === 'bf16' ? data.map(roundBf16) : data;
  };
  const cacheOf = (width: number) => {
    const cache = new Float32Array(pages * pageTokens * width).fill(Number.NaN);
    for (const [sequence, part] of sequences.entries()) {
      for (let position = 0; position < part.context; position += 1) {
        cache.set(values(width), slotOf(sequence, position) * width);
      }
    }
    return cache;
  };
  const rows = rowsOf(spec);
  const tokens = rows.length;
  return {
    spec,
    tokens,
    pages,
    maxPages,
    pageTable,
    positions: Int32Array.from(rows, (row) => row.position),
    sequenceIds: Int32Array.from(rows, (row) => row.sequence),
    slots: Int32Array.from(rows, (row) => {
      return row.position < 0 ? -1 : slotOf(row.sequence, row.position);
    }),
    q: values(tokens * heads * headDim),
    indexQ: values(tokens * indexHeads * indexDim),
    kCache: cacheOf(kvHeads * headDim),
    vCache: cacheOf(kvHeads * headDim),
    indexKeys: cacheOf(indexDim),
  };
}

function rowsOf({ sequences, padding = 0, interleaved = false }: PagedBatchSpec) {
  const rows = sequences.flatMap(({ context, tokens }, sequence) =>
    Array.from({ length: tokens }, (_, i) => ({
      sequence,
      position: context - tokens + i,
      turn: i,
    })),
  );
  if (interleaved) rows.sort((a, b) => a.turn - b.turn || a.sequence - b.sequence);
  const none = Array.from({ length: padding }, () => ({ sequence: 0, position: -1, turn: 0 }));
  return [...rows, ...none];
}

function shuffled(count: number, integer: (low: number, high: number) => number): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i -= 1) {
    const j = integer(0, i + 1);
    [order[i], order[j]] = [order[j] ?? 0, order[i] ?? 0];
  }
  return order;
}
