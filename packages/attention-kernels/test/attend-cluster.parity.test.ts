import type { DeviceLimits, OperationOptions, Stream, Tensor } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  downloadRaw,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { checkAttention } from '../src/arguments/attention-input.js';
import { checksOf } from '../src/arguments/checks.js';
import { type AttendCall, attend, attendShape } from '../src/attend.js';
import { mostClusterBlocks } from '../src/attend.plan.js';
import { loadAttentionKernels } from '../src/index.js';
import { planPagedAttention } from '../src/paged-attention.plan.js';
import { planSparseAttention } from '../src/sparse-attention.plan.js';
import { type DeviceBatch, uploadBatch } from './makers/device-batch.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { once } from './makers/once.js';
import { makePagedBatch, type PagedBatch } from './makers/paged-batch.js';

const context = 2016; // a part of the last page of 128 tokens, whole pages of 96
const pieceKeys = 128;

const sizes = [
  { heads: 16, kvHeads: 1, headDim: 128, pageTokens: 128 }, // a quarter of MiniMax-M3
  { heads: 32, kvHeads: 2, headDim: 128, pageTokens: 128 }, // half of it
  { heads: 40, kvHeads: 2, headDim: 128, pageTokens: 96 }, // sixteen heads, then four
  { heads: 9, kvHeads: 3, headDim: 64, pageTokens: 96 },
  { heads: 16, kvHeads: 1, headDim: 64, pageTokens: 128 },
];

const cases = sizes.flatMap((size) =>
  ['dense', 'sparse'].map((kind) => ({
    name: `${kind}, ${size.heads}/${size.kvHeads} heads of ${size.headDim}`,
    isSparse: kind === 'sparse',
    ...{ ...size, dtype: 'bf16' as const, indexHeads: size.kvHeads, indexDim: 8, seed: freshSeed },
    sequences: [
      { context, tokens: 4 },
      { context, tokens: 3 },
    ],
  })),
);

const batchOf = once((testCase: (typeof cases)[number]) => makePagedBatch(testCase));

// The last token's sequence is none.
const sequenceIds = [0, 0, 0, 1, 1, 1, 9];

/** Tokens that see up to `pages` blocks: all keys of them, some, the first alone, none. */
function denseTokens(stream: Stream, { spec, pageTable, maxPages }: PagedBatch, pages: number) {
  const random = seededRandom(freshSeed + pages);
  const { sequences, pageTokens } = spec;
  const last = Math.min(context, pages * pageTokens) - 1;
  const positions = [last, random.integer(0, last + 1), 0, -1, last, last, last];
  const table = sequences.flatMap((_, row) =>
    Array.from(pageTable.subarray(row * maxPages, row * maxPages + pages)),
  );
  table[pages + random.integer(0, pages)] = -1;
  return { positions, pageTable: upload(stream, table, [sequences.length, pages], 'i32') };
}

/** Lists of `pages` entries: full, with nothing behind some of them, with nothing at all. */
function blockLists(stream: Stream, { spec, tokens, maxPages }: PagedBatch, pages: number) {
  const random = seededRandom(freshSeed + pages);
  const lists = Array.from({ length: spec.kvHeads * tokens }, (_, list) => {
    const chosen = Array.from({ length: maxPages }, (_, block) => block);
    while (chosen.length > pages) chosen.splice(random.integer(0, chosen.length), 1);
    return chosen.fill(-1, list % 3 === 0 ? pages : random.integer(0, pages + 1));
  });
  return upload(stream, lists.flat(), [spec.kvHeads, tokens, pages], 'i32');
}

/** Makes calls with up to `pages` blocks a token from their queries; outputs are new. */
function callsOf(
  stream: Stream,
  { batch, tensors, isSparse }: { batch: PagedBatch; tensors: DeviceBatch; isSparse: boolean },
  pages: number,
): (q: Tensor) => AttendCall {
  const { tokens } = batch;
  const ints = (data: readonly number[]) => upload(stream, data, [tokens], 'i32');
  const { positions, pageTable } = isSparse
    ? { ...tensors, positions: [context - 1, 700, 100, -1, 1000, context - 1, 500] }
    : denseTokens(stream, batch, pages);
  const rows = { positions: ints(positions), sequenceIds: ints(sequenceIds) };
  const input = { ...tensors, ...rows, pageTable };
  const more: AttendCall['more'] = isSparse
    ? { blocks: blockLists(stream, batch, pages), topk_blocks: pages }
    : {};
  const shape = checkAttention(checksOf('attend', stream), input, { stream });
  const mostKeys = pages * shape.pageTokens;
  return (q) => {
    const out = stream.tensor([tokens, shape.heads * shape.headDim], 'bf16');
    poison(stream, out);
    return { input: { ...input, q }, shape, out, mostKeys, isCausal: !isSparse, more };
  };
}

// On the CPU rows are not split, and both ways are one.
describeEachBackend(
  'a cluster that joins its pieces has the bits of two launches, early and captured, too',
  cases,
  async ({ stream, device, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const { isSparse, headDim, heads, pageTokens } = testCase;
    const batch = batchOf(testCase);
    const tensors = uploadBatch(stream, batch);
    const plan = isSparse ? planSparseAttention : planPagedAttention;
    const isCuda = device.limits.sm !== '';
    const joined = { ...device.limits, processors: 1000 }; // whether or not all run at once
    const apart = isCuda ? { ...joined, sm: '8.0' } : joined;
    const mostPages = Math.ceil(context / pageTokens);
    for (let pages = isCuda ? 1 : mostPages; pages <= mostPages; pages += 1) {
      const callOf = callsOf(stream, { batch, tensors, isSparse }, pages);
      // The second call's queries are the first one's output: it must wait for all of it.
      const chain = () => {
        const first = callOf(tensors.q);
        return [first, callOf(first.out.view([batch.tokens, heads, headDim]))];
      };
      const run = (calls: AttendCall[], limits: DeviceLimits, options: OperationOptions) => {
        for (const call of calls) attend(call, plan(attendShape(call), limits), options);
      };
      const [expected, actual, early] = [chain(), chain(), chain()];
      run(expected, apart, { stream });
      run(actual, joined, { stream });
      const programmatic = !isCuda || Number.parseInt(device.limits.sm, 10) >= 9;
      const graph = device.capture(() => run(early, joined, { stream, programmatic }), { stream });
      const exec = graph.instantiateSync();
      exec.launch(stream);
      const pieces = Math.ceil((pages * pageTokens) / pieceKeys);
      for (const [i, call] of expected.entries()) {
        const message = `${pages} pages, call ${i}, ${seedNote}`;
        const kernel = (limits: DeviceLimits) => plan(attendShape(call), limits).kernel;
        const isCluster = pieces > 1 && pieces <= mostClusterBlocks(device.limits);
        expect(kernel(joined).endsWith('_cluster'), message).toBe(isCluster);
        expect(kernel(apart), message).not.toMatch(/_cluster$/);
        const bits = Buffer.from(await downloadRaw(stream, call.out)).toString('hex');
        for (const other of [actual[i], early[i]]) {
          if (!other) throw new Error('no such call');
          const same = Buffer.from(await downloadRaw(stream, other.out)).toString('hex') === bits;
          expect(same, message).toBe(true);
        }
      }
      exec.dispose();
      graph.dispose();
    }
  },
);
