import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Engine, type EngineOptions, type GenerationParameters } from '../../src/index.js';
import { collect, countingModel, vocab } from '../makers/counting.js';
import { ListMatcher } from '../makers/list-matcher.js';
import { modelOfSuite } from '../makers/model-of-suite.js';

onEachBackend((backend) => {
  describe('what processed log-probabilities cost', () => {
    const suite = modelOfSuite(backend, countingModel);
    afterEach(() => {
      vi.restoreAllMocks();
    });

    /** What is enqueued after the start, in order, for requests one behind the other. */
    async function enqueued(
      logprobsMode: 'raw' | 'processed',
      requests: readonly GenerationParameters[],
      options: Partial<EngineOptions> = {},
    ): Promise<string[]> {
      const { model } = suite;
      const engine = await Engine.create({ model, logprobsMode, lookAhead: false, ...options });
      const stream = model.device.createStream();
      const shared = Object.getPrototypeOf(stream) as Stream;
      stream.dispose();
      const log: string[] = [];
      const { launch, read, write, copy } = shared;
      vi.spyOn(shared, 'launch').mockImplementation(function (this: Stream, kernel, ...rest) {
        log.push(`launch ${kernel.name}`);
        return launch.call(this, kernel, ...rest);
      });
      vi.spyOn(shared, 'read').mockImplementation(function (this: Stream, source, host) {
        log.push(`read ${(source as Tensor).shape}`);
        return read.call(this, source, host);
      });
      vi.spyOn(shared, 'write').mockImplementation(function (this: Stream, target, host) {
        log.push(`write ${(target as Tensor).shape}`);
        return write.call(this, target, host);
      });
      vi.spyOn(shared, 'copy').mockImplementation(function (this: Stream, ...memory) {
        log.push(`copy ${memory[0].bytes}`);
        return copy.call(this, ...memory);
      });
      for (const request of requests) {
        await collect(engine.generate([3], { temperature: 0, maxTokens: 9, ...request }));
      }
      vi.restoreAllMocks();
      await engine.close();
      return log;
    }

    const kinds: readonly GenerationParameters[] = [{}, { presencePenalty: 1 }, { topK: 3 }];
    const row = `read 1,${vocab}`;

    it.each([
      ['one step at a time', {}],
      ['without graphs', { graphSizes: [] }],
    ])('is nothing for requests that ask for none: %s', async (_, options) => {
      const usual = await enqueued('raw', kinds, options);
      expect(usual.length).toBeGreaterThan(20);
      expect(usual).not.toContain(row);
      expect(await enqueued('processed', kinds, options)).toEqual(usual);
    });

    it('is a row read for each token of those that ask, and no launch', async () => {
      const plain = await enqueued('raw', kinds);
      const asked = await enqueued(
        'processed',
        kinds.map((kind) => ({ ...kind, logprobs: 4 })),
      );
      expect(asked.filter((one) => one !== row)).toEqual(plain);
      expect(asked.filter((one) => one === row)).toHaveLength(3 * 9);
    });

    it('is the same beside a grammar, whose rows are read once', async () => {
      const grammar = () => new ListMatcher(vocab, [[5], 'any', [9], 'any', [11, 12]]);
      const plain = await enqueued('raw', [{ grammar: grammar() }]);
      const asked = await enqueued('processed', [{ grammar: grammar(), logprobs: 4 }]);
      expect(asked.filter((one) => one !== row)).toEqual(plain);
      // Five tokens, and the step that finds the text complete.
      expect(asked.filter((one) => one === row)).toHaveLength(6);
    });
  });
});
