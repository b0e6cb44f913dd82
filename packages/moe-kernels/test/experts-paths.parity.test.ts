import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { expertsDown, expertsGateUp, loadMoeKernels, permute } from '../src/index.js';
import type { ExpertsCase } from './cases/experts-gate-up.js';
import { makeExperts, uploadWeight } from './makers/experts.js';
import { poisoned } from './makers/poisoned-allocator.js';

const base = { k: 2, experts: 4, activations: 'bf16' } as const;
const mx = { ...base, weights: 'mxfp8' } as const;

/** Few and many rows an expert, whole and broken slices of columns, rows that are not aligned. */
const cases: readonly ExpertsCase[] = [
  { name: 'mxfp8, 5 tokens', ...mx, tokens: 5, hidden: 64, intermediate: 32 },
  { name: 'mxfp8, 300 tokens', ...mx, tokens: 300, hidden: 288, intermediate: 160 },
  { name: 'mxfp8, 10 slices', ...mx, tokens: 40, hidden: 2336, intermediate: 96 },
  { name: 'mxfp8, whole slices', ...mx, tokens: 34, hidden: 512, intermediate: 384 },
  { name: 'mxfp8, shared row tiles', ...mx, tokens: 21, hidden: 4480, intermediate: 64 },
  {
    name: 'bf16, shared row tiles',
    ...{ ...base, weights: 'bf16', tokens: 9, hidden: 2112, intermediate: 64 },
  },
  {
    name: 'bf16, 300 tokens',
    ...base,
    weights: 'bf16',
    tokens: 300,
    hidden: 200,
    intermediate: 72,
  },
  { name: 'bf16, odd rows', ...base, weights: 'bf16', tokens: 90, hidden: 137, intermediate: 29 },
  {
    name: 'mxfp8, all on one expert',
    ...{ ...mx, tokens: 270, hidden: 160, intermediate: 96, pattern: 'one expert' },
  },
];

describeEachBackend('streamed and tiled experts', cases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts, hidden, activations } = testCase;
  const data = makeExperts(testCase);
  const permutation = permute(
    upload(stream, data.ids, [tokens, k], 'i32'),
    { numExperts: experts },
    { stream },
  );
  const x = upload(stream, data.x, [tokens, hidden], activations);
  const [w13, w2] = [uploadWeight(stream, data.w13), uploadWeight(stream, data.w2)];
  const results = await Promise.all(
    ([undefined, 'stream', 'tiled'] as const).map(async (path) => {
      const options = { stream, allocator: poisoned(stream), ...(path ? { path } : {}) };
      const y = expertsGateUp({ hidden: x, w13, permutation }, {}, options);
      const h2 = expertsDown({ y, w2, permutation }, options);
      return [await downloadRaw(stream, y), await downloadRaw(stream, h2)];
    }),
  );
  // The same bits: a token's result must not depend on how many others there are.
  expect(results[1]).toEqual(results[0]);
  expect(results[2]).toEqual(results[0]);
});
