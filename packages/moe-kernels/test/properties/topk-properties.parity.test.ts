import {
  type BackendContext,
  describeEachBackend,
  download,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels, type TopkConfig, topk } from '../../src/index.js';
import { makeTopkInput } from '../cases/topk.js';

const [tokens, experts] = [19, 64];

/** Runs logits [tokens, experts] without bias. */
async function route(
  { stream, runtime }: BackendContext,
  logits: Float32Array,
  config: TopkConfig,
) {
  await loadMoeKernels(runtime);
  const shape = [logits.length / experts, experts];
  const { ids, weights } = topk({ logits: upload(stream, logits, shape, 'f32') }, config, {
    stream,
  });
  return {
    ids: [...(await download(stream, ids))].map(Number),
    weights: [...(await download(stream, weights))].map(Number),
  };
}

function randomLogits(config: TopkConfig): Float32Array {
  return makeTopkInput({ name: 'properties', tokens, experts, config }).logits;
}

const properties: Readonly<Record<string, (context: BackendContext) => Promise<void>>> = {
  'renormalised weights sum to the scale and none is negative': async (context) => {
    for (const method of ['sigmoidRenorm', 'renormalize', 'renormalizeNaive'] as const) {
      const config = { topK: 6, method, routedScalingFactor: 2.5 };
      const { weights } = await route(context, randomLogits(config), config);
      for (let token = 0; token < tokens; token += 1) {
        const row = weights.slice(token * 6, (token + 1) * 6);
        expect(Math.min(...row)).toBeGreaterThanOrEqual(0);
        const sum = row.reduce((a, b) => a + b, 0);
        expect(Math.abs(sum - 2.5)).toBeLessThanOrEqual(2 * 6 * 2.5 * 2 ** -23);
      }
    }
  },

  'a constant added to all logits keeps the choice of a softmax': async (context) => {
    const config = { topK: 6, method: 'default' } as const;
    const logits = randomLogits(config);
    const moved = await route(
      context,
      logits.map((z) => z + 3),
      config,
    );
    expect(moved.ids).toEqual((await route(context, logits, config)).ids);
  },

  'top-k → softmax equals softmax → top-k → renormalise': async (context) => {
    const config = { topK: 6, method: 'renormalize' } as const;
    const logits = randomLogits(config);
    const one = await route(context, logits, config);
    const other = await route(context, logits, { ...config, method: 'renormalizeNaive' });
    expect(one.ids).toEqual(other.ids);
    one.weights.forEach((weight, i) => {
      expect(Math.abs(weight - (other.weights[i] ?? 0))).toBeLessThanOrEqual(1e-6);
    });
  },

  'a token does not depend on its batch': async (context) => {
    const config = { topK: 6, method: 'sigmoidRenorm' } as const;
    const logits = randomLogits(config);
    const whole = await route(context, logits, config);
    for (let token = 0; token < tokens; token += 1) {
      const row = logits.slice(token * experts, (token + 1) * experts);
      const alone = await route(context, row, config);
      expect(alone.weights).toEqual(whole.weights.slice(token * 6, (token + 1) * 6));
    }
  },

  'the scale stays out of the weights when the output owns it': async (context) => {
    const config = { topK: 4, method: 'sigmoidRenorm', routedScalingFactor: 2 } as const;
    const logits = randomLogits(config);
    const scaled = await route(context, logits, config);
    for (const scaleOwner of ['output', 'none'] as const) {
      const plain = await route(context, logits, { ...config, scaleOwner });
      expect(scaled.weights).toEqual(plain.weights.map((weight) => weight * 2));
    }
  },
};

const cases = Object.entries(properties).map(([name, check]) => ({ name, check }));

describeEachBackend('topk:', cases, (context, { check }) => check(context));
