import type { Tensor } from '@altstream/cuda-runtime';
import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import {
  type ExpertsOptions,
  expertsDown,
  expertsGateUp,
  loadMoeKernels,
  permute,
} from '../src/index.js';
import type { ExpertsCase } from './cases/experts-gate-up.js';
import { makeExperts, uploadWeight } from './makers/experts.js';
import { pathsFor } from './makers/paths.js';
import { poisoned } from './makers/poisoned-allocator.js';

const base = { k: 2, experts: 4, activations: 'bf16' } as const;
const mx = { ...base, weights: 'mxfp8' } as const;

/**
 * Few and many rows an expert, whole and broken slices of columns, rows that are not aligned, tiles
 * of each size that warpgroups know.
 */
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
  { name: 'mxfp8, one stage', ...mx, tokens: 3, hidden: 64, intermediate: 64 },
  ...[16, 31, 33, 63, 65, 96, 97, 128, 129, 290].map(
    (tokens): ExpertsCase => ({
      name: `mxfp8, warpgroups, ${tokens} tokens on one expert`,
      ...{ ...mx, tokens, hidden: 320, intermediate: 192, pattern: 'one expert' },
    }),
  ),
  ...[40, 300].map(
    (tokens): ExpertsCase => ({
      name: `bf16, warpgroups, ${tokens} tokens`,
      ...{ ...base, weights: 'bf16', tokens, hidden: 448, intermediate: 128 },
    }),
  ),
  // More units than blocks.
  { name: 'mxfp8, 3000 tokens, gate and up', ...mx, tokens: 3000, hidden: 64, intermediate: 384 },
  { name: 'mxfp8, 3000 tokens, down', ...mx, tokens: 3000, hidden: 768, intermediate: 64 },
];

describeEachBackend('streamed and tiled experts', cases, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const { tokens, k, experts, hidden, intermediate, activations } = testCase;
  const data = makeExperts(testCase);
  const permutation = permute(
    upload(stream, data.ids, [tokens, k], 'i32'),
    { numExperts: experts },
    { stream },
  );
  const x = upload(stream, data.x, [tokens, hidden], activations);
  const [w13, w2] = [uploadWeight(stream, data.w13), uploadWeight(stream, data.w2)];
  const run = async (columns: number, project: (options: ExpertsOptions) => Tensor) => {
    const options = { stream, allocator: poisoned(stream) };
    const chosen = await downloadRaw(stream, project(options));
    for (const path of pathsFor(stream.device, columns)) {
      const bits = await downloadRaw(stream, project({ ...options, path }));
      // The same: a token's result must not depend on how many others there are.
      expect(Buffer.compare(bits, chosen), path).toBe(0);
    }
  };
  const y = expertsGateUp({ hidden: x, w13, permutation }, {}, { stream });
  await run(hidden, (options) => expertsGateUp({ hidden: x, w13, permutation }, {}, options));
  await run(intermediate, (options) => expertsDown({ y, w2, permutation }, options));
});
