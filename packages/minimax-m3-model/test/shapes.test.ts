import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTensors, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { randomModel } from './makers/random-config.js';
import { Session } from './makers/session.js';
import { referenceModel } from './reference/model.js';
import { referenceWeights } from './reference/weights.js';

// Of the largest logit of all positions: fp32 sums of models as deep and as ill-conditioned as these err by up to 4e-6 of it,
// in whatever order a backend adds.
const relativeTolerance = 5e-6;

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe('models of many shapes equal the float64 reference', () => {
    it.each(Array.from({ length: 24 }, (_, seed) => seed))('seed %i', async (seed) => {
      const { config: json, ...stored } = randomModel(seed);
      const directory = await folder({ model: json, ...stored });
      const model = await load({ directory });
      const tokens = hashTokens(37, model.vocabSize);
      const weights = referenceWeights(hashTensors(json, stored));
      const reference = referenceModel(model.config, weights, tokens);
      const session = new Session(model, 1, tokens.length);
      const [first = []] = await session.run([{ sequence: 0, tokens: tokens.slice(0, 19) }]);
      const [second = []] = await session.run([{ sequence: 0, tokens: tokens.slice(19) }]);
      const largest = Math.max(...reference.logits.flatMap((row) => [...row].map(Math.abs)));
      for (const [position, row] of [...first, ...second].entries()) {
        const error = worst(row, reference.logits[position] ?? []);
        expect(error).toBeLessThan(relativeTolerance * largest);
      }
    });
  });
});
