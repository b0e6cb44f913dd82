/** Models on a backend, freed when the suite ends. */

import { type CpuOptions, open, type Runtime } from '@altstream/cuda-runtime';
import type { BackendName } from '@altstream/cuda-runtime/testing';
import { afterAll } from 'vitest';
import { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import type { ModelOptions } from '../../src/model-options.js';

/** What to load, and where: default in a runtime of its own. */
export type TestModelOptions = Omit<ModelOptions, 'runtime'> & {
  readonly runtime?: Runtime;
  /** How a runtime of its own orders work; for the CPU alone. */
  readonly cpu?: CpuOptions;
};

/** A function that loads a model, float32 unless told otherwise. */
export function makeModels(
  backend: BackendName,
): (options: TestModelOptions) => Promise<MiniMaxM3Model> {
  const made: MiniMaxM3Model[] = [];
  afterAll(async () => {
    for (const model of made) model.dispose();
    for (const runtime of new Set(made.map((model) => model.runtime))) await runtime.dispose();
  });
  return async ({ cpu, ...options }) => {
    if (cpu && backend !== 'cpu')
      throw new Error(`the orders of the CPU do not hold on ${backend}`);
    const runtime =
      options.runtime ?? (await open({ backend, isolated: true, ...(cpu && { cpu }) }));
    const model = await MiniMaxM3Model.load({ dtype: 'float32', ...options, runtime });
    made.push(model);
    return model;
  };
}
