import { builtInConfig, parseModelConfig } from '@altstream/minimax-m3-model';
import { describe, expect, it } from 'vitest';
import { memoryPlan } from './check-memory.js';

const gib = 2 ** 30;
const config = parseModelConfig(builtInConfig('MiniMax-M3') ?? {});
const layers = config.layers.length;
/** 10 GiB of embedding and head, 7 GiB a layer. */
const weights = {
  used: { tensors: 1, bytes: (10 + 7 * layers) * gib },
  layerBytes: config.layers.map(() => 7 * gib),
};
const on = (free: number) => ({ device: 'd', freeBytes: free * gib, dtype: 'auto' as const });

describe('the memory plan', () => {
  it('says what of the cache fits beside the weights', () => {
    const plan = memoryPlan(config, weights, on(500));
    const usable = 0.9 * 500 * gib - weights.used.bytes;
    expect(plan.tokensThatFit * plan.cacheBytesPerToken).toBeLessThanOrEqual(usable);
    expect((plan.tokensThatFit + 129) * plan.cacheBytesPerToken).toBeGreaterThan(usable);
    expect(plan.sequencesThatFit['4096']).toBe(Math.floor(plan.tokensThatFit / 4096));
    expect(plan).toMatchObject({ layersThatFit: layers, devicesNeeded: 1 });
  });

  it('says what would fit where the weights do not', () => {
    const plan = memoryPlan(config, weights, on(100));
    // 90 usable, 10 for both ends, 7 a layer.
    expect(plan).toMatchObject({ tokensThatFit: 0, layersThatFit: 11 });
    expect(plan.devicesNeeded).toBe(Math.ceil((10 + 7 * layers + 0.01) / 90));
    const doubled = memoryPlan(config, weights, { ...on(500), dtype: 'float32' });
    expect(doubled.cacheBytesPerToken).toBe(2 * plan.cacheBytesPerToken);
  });
});
