import {
  type BackendContext,
  describeEachBackend,
  download,
  downloadRaw,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels, permute, type RoutedTokens, topk, topkPermute } from '../src/index.js';
import { makeTopkInput } from './cases/topk.js';
import { type TopkPermuteCase, topkPermuteCases } from './cases/topk-permute.js';
import { topkSpecialCases } from './cases/topk-special.js';
import { poisoned } from './makers/poisoned-allocator.js';
import type { ReferenceTopkInput } from './reference/topk.js';
import { referenceTopkPermute } from './reference/topk-permute.js';

type Problem = Pick<TopkPermuteCase, 'config' | 'offset' | 'local' | 'logitsDtype'>;

/** The operation, and its two halves one behind the other. */
function runBoth({ stream }: BackendContext, input: ReferenceTopkInput, problem: Problem) {
  const { tokens, experts, bias, positions } = input;
  const { config, offset = 0, logitsDtype = 'f32' } = problem;
  const numExperts = experts + (config.numFusedSharedExperts ?? 0);
  const local = problem.local ?? numExperts - offset;
  const tensors = {
    logits: upload(stream, input.logits, [tokens, experts], logitsDtype),
    ...(bias ? { routingBias: upload(stream, bias, [experts], 'f32') } : {}),
    ...(positions ? { positions: upload(stream, positions, [tokens], 'i32') } : {}),
  };
  const range = { numExperts, localExpertOffset: offset, localNumExperts: local };
  const options = { stream, allocator: poisoned(stream) };
  const routed = topkPermute(tensors, config, range, options);
  const chosen = topk(tensors, config, options);
  // With tiles, so that another kernel makes the maps.
  const maps = permute(chosen.ids, range, { ...options, tileRows: 16 });
  return { routed, halves: { topk: chosen, permutation: maps }, offset, local };
}

/** The bytes of everything but the tiles. */
async function bytesOf(
  { stream }: BackendContext,
  { topk: { ids, weights }, permutation }: Omit<RoutedTokens, 'plan'>,
) {
  const { offsets, rows, slots } = permutation;
  const read = async (tensor: typeof ids) => [...(await downloadRaw(stream, tensor))];
  return {
    ids: await read(ids),
    weights: await read(weights),
    offsets: await read(offsets),
    rows: await read(rows),
    slots: await read(slots),
  };
}

describeEachBackend('topkPermute', topkPermuteCases, async (context, testCase) => {
  const { stream, runtime } = context;
  await loadMoeKernels(runtime);
  const input = makeTopkInput(testCase);
  const { routed, halves, offset, local } = runBoth(context, input, testCase);
  expect(await bytesOf(context, routed)).toEqual(await bytesOf(context, halves));
  const { ids, maps } = referenceTopkPermute(input, testCase.config, { offset, local });
  const read = async (name: 'offsets' | 'rows' | 'slots') =>
    [...(await download(stream, routed.permutation[name]))].map(Number);
  expect([...(await download(stream, routed.topk.ids))].map(Number)).toEqual(ids);
  expect(await read('offsets')).toEqual(maps.offsets);
  expect(await read('rows')).toEqual(maps.rows);
  expect(await read('slots')).toEqual(maps.slots);
});

describeEachBackend(
  'topkPermute with special numbers has the bits of its halves',
  topkSpecialCases,
  async (context, { logits, bias, config }) => {
    await loadMoeKernels(context.runtime);
    const input = {
      logits: Float32Array.from(logits),
      tokens: 1,
      experts: logits.length,
      ...(bias ? { bias: Float32Array.from(bias) } : {}),
    };
    const { routed, halves } = runBoth(context, input, { config });
    expect(await bytesOf(context, routed)).toEqual(await bytesOf(context, halves));
  },
);

const flagged = [
  { name: 'is set for a NaN logit of a real row', positions: [0, 1], status: 1 },
  { name: 'is left alone for one of a padding row', positions: [0, -1], status: 0 },
];
describeEachBackend('the status of topkPermute', flagged, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const status = upload(stream, [0], [1], 'i32');
  const logits = upload(stream, [0, 3, 1, 2, 0, 1, Number.NaN, 2], [2, 4], 'f32');
  const positions = upload(stream, testCase.positions, [2], 'i32');
  const config = { topK: 2, method: 'sigmoid', nanPolicy: 'flag' } as const;
  topkPermute({ logits, positions, status }, config, { numExperts: 4 }, { stream });
  expect([...(await download(stream, status))]).toEqual([testCase.status]);
});
