import {
  type BackendContext,
  describeEachBackend,
  download,
  expectClose,
  poison,
  roundBf16,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels, type TopkConfig, topk } from '../src/index.js';
import { makeTopkInput, topkCases } from './cases/topk.js';
import { topkSpecialCases } from './cases/topk-special.js';
import { type ReferenceTopkInput, referenceTopk } from './reference/topk.js';

/** fp32 exponential and division are off by a few units in the last place. */
const weightTolerance = { relative: 2e-6, absolute: 1e-12 };

/** Runs top-k into poisoned outputs. */
async function run(
  { stream, runtime }: BackendContext,
  input: ReferenceTopkInput,
  config: TopkConfig,
  logitsDtype: 'f32' | 'bf16' = 'f32',
) {
  await loadMoeKernels(runtime);
  const { tokens, experts, bias, positions } = input;
  const shape = [tokens, config.topK + (config.numFusedSharedExperts ?? 0)];
  const out = {
    ids: stream.tensor(shape, 'i32'),
    weights: stream.tensor(shape, 'f32'),
    packed: stream.tensor(shape, 'i32'),
  };
  for (const tensor of Object.values(out)) poison(stream, tensor);
  const logits = upload(stream, input.logits, [tokens, experts], logitsDtype);
  const tensors = {
    logits,
    ...(bias ? { routingBias: upload(stream, bias, [experts], 'f32') } : {}),
    ...(positions ? { positions: upload(stream, positions, [tokens], 'i32') } : {}),
  };
  topk(tensors, config, { stream, out });
  const read = async (name: keyof typeof out) =>
    [...(await download(stream, out[name]))].map(Number);
  return { ids: await read('ids'), weights: await read('weights'), packed: await read('packed') };
}

describeEachBackend('topk', topkCases, async (context, testCase) => {
  const input = makeTopkInput(testCase);
  const actual = await run(context, input, testCase.config, testCase.logitsDtype);
  const expected = referenceTopk(input, testCase.config);
  expect(actual.ids).toEqual(expected.ids);
  expectClose(actual.weights, expected.weights, weightTolerance);
  expect(actual.packed).toEqual(packs(actual.ids, actual.weights));
});

describeEachBackend('topk by hand', topkSpecialCases, async (context, testCase) => {
  const { logits, bias, config, expected } = testCase;
  const experts = logits.length;
  const input = {
    logits: Float32Array.from(logits),
    tokens: 1,
    experts,
    ...(bias ? { bias: Float32Array.from(bias) } : {}),
  };
  const actual = await run(context, input, config);
  expect(actual.ids).toEqual(expected.ids);
  expectClose(actual.weights, expected.weights, weightTolerance);
  if (expected.packed) expect(actual.packed.map((word) => word >>> 0)).toEqual(expected.packed);
});

const flagged = [
  { name: 'sets the status for a NaN logit', logits: [0, Number.NaN, 1, 2], status: 1 },
  { name: 'leaves the status alone without one', logits: [0, 3, 1, 2], status: 0 },
];
describeEachBackend('topk with nanPolicy flag', flagged, async ({ stream, runtime }, testCase) => {
  await loadMoeKernels(runtime);
  const status = upload(stream, [0], [1], 'i32');
  const logits = upload(stream, testCase.logits, [1, 4], 'f32');
  const config = { topK: 2, method: 'sigmoid', nanPolicy: 'flag' } as const;
  topk({ logits, status }, config, { stream });
  expect([...(await download(stream, status))]).toEqual([testCase.status]);
});

/** The id above, the rounded weight's bf16 bits below; a negative weight must not reach the id. */
function packs(ids: readonly number[], weights: readonly number[]): number[] {
  const word = new DataView(new ArrayBuffer(4));
  return ids.map((id, i) => {
    word.setFloat32(0, roundBf16(weights[i] ?? 0));
    return (id << 16) | word.getUint16(0);
  });
}
