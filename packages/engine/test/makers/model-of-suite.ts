import { open, type Runtime } from '@altstream/cuda-runtime';
import type { BackendName } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll } from 'vitest';
import type { MarkovModel } from '../../src/index.js';

/** A model, and the runtime that it is on, while the tests of a suite run. */
export interface ModelOfSuite {
  readonly runtime: Runtime;
  readonly model: MarkovModel;
}

/** Makes a model before the tests of the suite that calls this, and disposes it after them. */
export function modelOfSuite(
  backend: BackendName,
  make: (runtime: Runtime) => Promise<MarkovModel>,
): ModelOfSuite {
  let made: ModelOfSuite | undefined;
  const there = (): ModelOfSuite => {
    if (!made) throw new Error('the model is there while tests run only');
    return made;
  };
  beforeAll(async () => {
    const runtime = await open({ backend });
    made = { runtime, model: await make(runtime) };
  });
  afterAll(async () => {
    made?.model.dispose();
    await made?.runtime.dispose();
  });
  return {
    get runtime() {
      return there().runtime;
    },
    get model() {
      return there().model;
    },
  };
}
