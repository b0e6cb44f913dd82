import { open, type Runtime } from '@altstream/cuda-runtime';
import type { BackendName } from '@altstream/cuda-runtime/testing';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import { afterAll, beforeAll } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';

/**
 * Loads T32 with MXFP8 experts before the tests of the suite that calls this, and disposes it after
 * them.
 *
 * @returns gives the model, while tests run
 */
export function modelOfSuite(backend: BackendName): () => MiniMaxM3Model {
  let folder: ModelFolder | undefined;
  let runtime: Runtime | undefined;
  let model: MiniMaxM3Model | undefined;
  beforeAll(async () => {
    folder = await makeModelFolder('T32', { mxfp8: true });
    runtime = await open({ backend });
    model = await MiniMaxM3Model.load({ runtime, directory: folder.path, dtype: 'bfloat16' });
  });
  afterAll(async () => {
    model?.dispose();
    await runtime?.dispose();
    folder?.remove();
  });
  return () => {
    if (!model) throw new Error('the model is there while tests run only');
    return model;
  };
}
