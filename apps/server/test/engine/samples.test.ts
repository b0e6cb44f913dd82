import { onEachBackend } from '@altstream/cuda-runtime/testing';
import {
  Engine,
  type EngineOptions,
  type GenerationEvent,
  type GenerationParameters,
  replaySchedule,
} from '@altstream/engine';
import { describe, expect, it } from 'vitest';
import { modelOfSuite } from './model-of-suite.js';

const samples = 5;
/** Pages have 8 tokens: prompts that end in the middle of one, at a border, and in the first. */
const lengths = [29, 24, 3, 9];

onEachBackend((backend) => {
  describe('samples of one prompt', () => {
    const model = modelOfSuite(backend);

    /** Without what depends on the prefix cache; some samples are over with their first token. */
    async function ask(engine: Engine, length: number, sample: number): Promise<GenerationEvent[]> {
      const prompt = Array.from({ length }, (_, i) => 3 + ((i * 37 + length) % 190));
      const parameters: GenerationParameters = {
        seed: sample,
        temperature: sample === 0 ? 0 : 0.9,
        logprobs: 2,
        maxTokens: sample === 3 ? 1 : 20 + sample,
        ...(sample === 2 ? { presencePenalty: 1.5, repetitionPenalty: 1.2 } : {}),
      };
      const events: GenerationEvent[] = [];
      for await (const event of engine.generate(prompt, parameters)) {
        events.push({ ...event, cachedTokens: 0 } as GenerationEvent);
      }
      return events;
    }

    async function serve(options: Partial<EngineOptions>) {
      const lines: string[] = [];
      const engine = await Engine.create({
        model: model(),
        maxModelLength: 64,
        maxWaitingTokens: 10_000,
        maxBatchedTokens: 20,
        itlTargetMs: 0, // a slow moment would cut prompts into other pieces
        checkLedger: true,
        onTrace: (line) => lines.push(line),
        ...options,
      });
      const asked = lengths.flatMap((length) =>
        Array.from({ length: samples }, (_, sample) => ask(engine, length, sample)),
      );
      const events = await Promise.all(asked);
      await engine.idle();
      const stats = engine.stats();
      await engine.close();
      const trace = lines.join('\n');
      expect(replaySchedule(trace).difference).toBeUndefined();
      const copies = [...trace.matchAll(/"copied":\[([\d,]+)\]/g)].flatMap(([, of = '']) =>
        of.split(','),
      );
      return { events, stats, copies: copies.length };
    }

    it('are the same bits as each alone, and the prompt is computed once', async () => {
      expect(model().pageTokens).toBe(8);
      const alone = await serve({ maxSequences: 1, pages: 20, prefixCaching: false });
      const prompts = lengths.reduce((sum, length) => sum + length, 0);
      expect(alone.stats.promptTokens).toBe(samples * prompts);
      for (const lookAhead of [true, false]) {
        const wide = await serve({ maxSequences: 8, pages: 120, lookAhead });
        expect(wide.events).toEqual(alone.events);
        // Of each other sample the last token is computed, which shows what comes next.
        expect(wide.stats.promptTokens).toBe(prompts + lengths.length * (samples - 1));
        // Whoever is over with the first token needs none, nor does the first, nor a full page.
        expect(wide.copies).toBe(3 * (samples - 2));
        expect([wide.stats.pages.pinned, wide.stats.pages.reserved]).toEqual([0, 0]);
        const narrow = await serve({ maxSequences: 8, pages: 16, lookAhead });
        expect(narrow.events).toEqual(alone.events);
        expect(narrow.stats.scheduling.preemptions).toBeGreaterThan(0);
        expect([narrow.stats.pages.pinned, narrow.stats.pages.reserved]).toEqual([0, 0]);
      }
    });
  });
});
