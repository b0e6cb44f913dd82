import {
  type BackendContext,
  describeEachBackend,
  downloadRaw,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { type RoutedExperts, topkPermute } from '../../src/index.js';
import type { ExpertsCase } from '../cases/experts-gate-up.js';
import { makeExperts } from '../makers/experts.js';
import { poisoned } from '../makers/poisoned-allocator.js';
import { makeRoutedExperts } from '../makers/routed-experts.js';

// Columns in whole stages of the ring, so that the down projection asks for weights before it
// waits.
const shape = { k: 3, experts: 12, hidden: 256, intermediate: 128 };
const formats = { weights: 'mxfp8', activations: 'bf16' } as const;
const config = { topK: 3, method: 'miniMax2' } as const;
const rounds = 12;

/**
 * Layers one behind the other, each routed by its own scores, each reading what the last one made.
 */
async function run(context: BackendContext, testCase: ExpertsCase, isEarly: boolean) {
  const { stream, device } = context;
  // On the CPU programmatic launches have to be asked for; before Hopper there are none.
  const mode = device.limits.cpuLevel === '' ? 'auto' : 'on';
  const data = makeExperts(testCase);
  const pdl = { mode: isEarly ? mode : 'off', maxTokens: -1 } as const;
  const experts: RoutedExperts = await makeRoutedExperts(context, testCase, data, { pdl });
  const { tokens, hidden } = testCase;
  const random = seededRandom(tokens);
  const routingBias = upload(stream, random.floats(shape.experts, 0.5), [shape.experts], 'f32');
  const scores = Array.from({ length: rounds }, () =>
    upload(stream, random.floats(tokens * shape.experts, 2), [tokens, shape.experts], 'f32'),
  );
  const allocator = poisoned(stream);
  const outs = [upload(stream, data.x, [tokens, hidden], 'bf16')];
  await stream.synchronize();
  for (const logits of scores) {
    const x = outs[outs.length - 1];
    if (!x) break;
    const range = { numExperts: shape.experts };
    const on = { stream, allocator };
    const { topk, permutation } = topkPermute({ logits, routingBias }, config, range, on);
    const options = { ...on, pdlWithPredecessor: true };
    outs.push(experts.forward({ hidden: x, topk, permutation }, options));
  }
  const steps = experts.describe().lastPlan?.steps ?? [];
  const canBeEarly = device.limits.cpuLevel !== '' || Number(device.limits.sm) >= 9;
  expect(new Set(steps.map(({ pdl: { enabled } }) => enabled))).toEqual(
    new Set([isEarly && canBeEarly]),
  );
  return Promise.all(outs.slice(1).map((out) => downloadRaw(stream, out)));
}

describeEachBackend(
  'experts launched before their maps are waited for have the same bits,',
  [1, 2, 7, 40, 200].map((tokens) => ({ name: `${tokens} tokens`, ...shape, ...formats, tokens })),
  async (context, testCase) => {
    const late = await run(context, testCase, false);
    const early = await run(context, testCase, true);
    early.forEach((bytes, i) => {
      expect(Buffer.from(bytes).equals(late[i] ?? new Uint8Array())).toBe(true);
    });
  },
);
