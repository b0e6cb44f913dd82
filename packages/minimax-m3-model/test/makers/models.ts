/** Models on the CPU backend, each in a runtime of its own, freed when the test file ends. */

import { type CpuOptions, open } from '@altstream/cuda-runtime';
import { afterAll } from 'vitest';
import { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import type { ModelOptions } from '../../src/model-options.js';

/** What to load, and how the backend orders work. */
export type TestModelOptions = Omit<ModelOptions, 'runtime'> & { readonly cpu?: CpuOptions };

/** A function that loads a model, float32 unless told otherwise. */
export function makeModels(): (options: TestModelOptions) => Promise<MiniMaxM3Model> {
  const made: MiniMaxM3Model[] = [];
  afterAll(async () => {
    for (const model of made) {
      model.dispose();
      await model.runtime.dispose();
    }
  });
  return async ({ cpu = {}, ...options }) => {
    const runtime = await open({ backend: 'cpu', isolated: true, cpu });
    const model = await MiniMaxM3Model.load({ dtype: 'float32', ...options, runtime });
    made.push(model);
    return model;
  };
}
