import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashTensors, hashTokens } from '@altstream/hash-checkpoint';
import { describe, expect, it } from 'vitest';
import { makeFolders } from './makers/folders.js';
import { worst } from './makers/golden.js';
import { makeModels } from './makers/models.js';
import { randomModel } from './makers/random-config.js';
import { Session } from './makers/session.js';
import { referenceModel } from './reference/model.js';
import { roundedWeights } from './reference/rounded-weights.js';
import { referenceWeights } from './reference/weights.js';

// A pass in fp32 rounds every weight's product, sum and function once or more; one rounding of each
// weight alone changes the logits of the float64 reference by what is measured here for each model,
// most for the ill-conditioned ones (seed 13). Backends err by 0.8 to 6 times that, by the order of
// their sums.
const roundings = 8;
// Of the largest logit: a seed whose experts or blocks change with a rounding would show nothing.
const mostChange = 2e-6;

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
      const moved = referenceModel(model.config, roundedWeights(weights, seed), tokens);
      const changed = moved.logits.map((row, at) => worst(row, reference.logits[at] ?? []));
      const largest = Math.max(...reference.logits.flatMap((row) => [...row].map(Math.abs)));
      expect(Math.max(...changed)).toBeLessThan(mostChange * largest);
      for (const [position, row] of [...first, ...second].entries()) {
        const error = worst(row, reference.logits[position] ?? []);
        expect(error).toBeLessThan(roundings * Math.max(...changed));
      }
    });
  });
});
