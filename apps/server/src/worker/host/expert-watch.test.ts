import { open, type Tensor } from '@altstream/cuda-runtime';
import { Engine } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../../../test/makers/model-folder.js';
import { ExpertWatch, loadOf } from './expert-watch.js';

describe('the load of experts', () => {
  it.each([
    ['even', [[0, 1, 2, 3]], { mean: 1, worst: 1 }],
    ['all for one', [[2, 2, 2, 2]], { mean: 4, worst: 4 }],
    [
      'by layer',
      [
        [0, 1, 2, 3],
        [0, 0, 0, 1],
      ],
      { mean: 2, worst: 3 },
    ],
    ['padding and the shared expert do not count', [[0, -1, 4, 1, -1, 4]], { mean: 2, worst: 2 }],
    ['a layer of padding', [[-1, -1], [3]], { mean: 4, worst: 4 }],
    ['nothing', [[-1], []], undefined],
  ])('is of those chosen: %s', (_, layers, expected) => {
    const arrays = layers.map((ids) => Int32Array.from(ids));
    expect(loadOf(arrays, 4)).toEqual(expected);
  });
});

describe('looking at the experts of prompts', () => {
  let folder: ModelFolder;
  let dispose: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    folder = await makeModelFolder('T32');
  });
  afterAll(async () => {
    await dispose?.();
    folder.remove();
  });

  it('goes on after a pass that failed', async () => {
    const runtime = await open({ backend: 'cpu' });
    let ms = 0;
    const looks: boolean[] = [];
    const model = {
      runtime,
      device: runtime.device(),
      config: { moe: { experts: 2, expertsPerToken: 1 } },
      moeBlocks: new Map([[0, {}]]),
      forward: (_: unknown, __: unknown, { taps }: { taps?: object }) => {
        looks.push(taps !== undefined);
        if (taps) throw new Error('no memory');
      },
    };
    const watch = new ExpertWatch(model as unknown as MiniMaxM3Model, () => ms);
    watch.begin(64);
    const tokenIds = { shape: [64] } as unknown as Tensor;
    const pass = () => watch.forward({ tokenIds } as never, undefined as never, {} as never);
    expect(pass).toThrow('no memory');
    expect(pass).not.toThrow();
    ms = 5001;
    expect(pass).toThrow('no memory');
    expect(looks).toEqual([true, false, true]);
    watch.dispose();
    await runtime.dispose();
  });

  it('now and then changes no token', async () => {
    const runtime = await open({ backend: 'cpu' });
    const model = await MiniMaxM3Model.load({ runtime, directory: folder.path, dtype: 'float32' });
    let ms = 0;
    const watch = new ExpertWatch(model, () => ms);
    const limits = { maxSequences: 2, maxBatchedTokens: 128, prefixCaching: false, maxWaiting: 4 };
    const engine = await Engine.create({ model: watch, ...limits });
    dispose = async () => {
      await engine.close();
      watch.dispose();
      model.dispose();
      await runtime[Symbol.asyncDispose]();
    };
    const { experts = 0 } = model.config.moe ?? {};
    const answer = async (first: number, tokens = 120): Promise<number[]> => {
      const prompt = Array.from({ length: tokens }, (_, n) => 3 + ((first + 7 * n) % 200));
      const ids: number[] = [];
      for await (const event of engine.generate(prompt, { temperature: 0, maxTokens: 4 })) {
        if (event.type === 'token') ids.push(event.id);
      }
      return ids;
    };
    const unseen = await answer(1);
    expect(watch.load).toBeUndefined();
    watch.begin(128);
    expect(await answer(1)).toEqual(unseen);
    const seen = watch.load;
    expect(seen?.mean).toBeGreaterThanOrEqual(1);
    expect(seen?.worst).toBeGreaterThanOrEqual(seen?.mean ?? Number.NaN);
    expect(seen?.worst).toBeLessThanOrEqual(experts);
    // Not again at once, and not at so few tokens that chance decides.
    await answer(50);
    expect(watch.load).toBe(seen);
    ms = 5001;
    await answer(50, 1);
    expect(watch.load).toBe(seen);
    await answer(50);
    expect(watch.load).not.toEqual(seen);
  });
});
