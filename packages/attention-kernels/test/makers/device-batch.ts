// A paged batch on a device.
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { upload } from '@altstream/cuda-runtime/testing';
import type { PagedBatch } from './paged-batch.js';

/** What attention and block selection take. */
export type DeviceBatch = ReturnType<typeof uploadBatch>;

/** Uploads a batch. */
export function uploadBatch(stream: Stream, batch: PagedBatch) {
  const { spec, tokens, pages, maxPages } = batch;
  const { dtype, pageTokens, kvHeads, headDim } = spec;
  const cacheShape = [pages, pageTokens, kvHeads, headDim];
  const ints = (data: Int32Array, shape: number[]) => upload(stream, data, shape, 'i32');
  return {
    q: upload(stream, batch.q, [tokens, spec.heads, headDim], dtype),
    indexQ: upload(stream, batch.indexQ, [tokens, spec.indexHeads, spec.indexDim], dtype),
    kCache: upload(stream, batch.kCache, cacheShape, dtype),
    vCache: upload(stream, batch.vCache, cacheShape, dtype),
    indexKeys: upload(stream, batch.indexKeys, [pages, pageTokens, spec.indexDim], dtype),
    pageTable: ints(batch.pageTable, [spec.sequences.length, maxPages]),
    positions: ints(batch.positions, [tokens]),
    sequenceIds: ints(batch.sequenceIds, [tokens]),
    slots: ints(batch.slots, [tokens]),
  };
}

/** Rows [start, end) of an uploaded batch: a chunk, or one decode step. Shares all memory. */
export function sliceBatch(batch: DeviceBatch, start: number, end: number): DeviceBatch {
  const rows = (tensor: Tensor) => tensor.slice(0, start, end);
  return {
    ...batch,
    q: rows(batch.q),
    indexQ: rows(batch.indexQ),
    positions: rows(batch.positions),
    sequenceIds: rows(batch.sequenceIds),
    slots: rows(batch.slots),
  };
}

/** Rows [start, end) of a batch on the host, for a reference. */
export function sliceHostBatch(batch: PagedBatch, start: number, end: number): PagedBatch {
  const { heads, headDim, indexHeads, indexDim } = batch.spec;
  return {
    ...batch,
    tokens: end - start,
    positions: batch.positions.slice(start, end),
    sequenceIds: batch.sequenceIds.slice(start, end),
    slots: batch.slots.slice(start, end),
    q: batch.q.slice(start * heads * headDim, end * heads * headDim),
    indexQ: batch.indexQ.slice(start * indexHeads * indexDim, end * indexHeads * indexDim),
  };
}
