import { open, type Runtime } from '@altstream/cuda-runtime';
import { onEachBackend, seededRandom } from '@altstream/cuda-runtime/testing';
import { Engine, type EngineOptions, type GenerationEvent } from '@altstream/engine';
import { MiniMaxM3Model } from '@altstream/minimax-m3-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  demoFolder,
  demoIsLeftOut,
  leftOutBecause,
  requireDemoWeights,
} from './makers/demo-model.js';
import { makeModelFolder } from './makers/model-folder.js';

/** An answer, and how much of the prompt was found. */
interface Answer {
  readonly events: readonly GenerationEvent[];
  readonly cachedTokens: number;
}

/** Asks, and takes from the events what depends on the cache. */
async function ask(
  engine: Engine,
  prompt: readonly number[],
  { seed = 1, maxTokens = 10, abortAfter = Number.POSITIVE_INFINITY } = {},
): Promise<Answer> {
  const events: GenerationEvent[] = [];
  const parameters = { seed, temperature: seed % 2, logprobs: 3, maxTokens };
  for await (const event of engine.generate(prompt, parameters)) {
    events.push(event);
    if (event.type === 'token' && events.length >= abortAfter) break;
  }
  const last = events.at(-1);
  const plain = events.map((event) => ({ ...event, cachedTokens: 0 }));
  return { events: plain, cachedTokens: last?.type === 'finish' ? last.cachedTokens : 0 };
}

function ids({ events }: Answer): number[] {
  return events.flatMap((event) => (event.type === 'token' ? [event.id] : []));
}

const models = [
  { name: 'the hash model in bfloat16', dtype: 'bfloat16', isDemo: false, step: 8 },
  { name: 'the hash model in float32', dtype: 'float32', isDemo: false, step: 8 },
  { name: 'the demo model', dtype: 'bfloat16', isDemo: true, step: 128 },
] as const;

onEachBackend((backend) => {
  describe.each(models)('$name, from the prefix cache', ({ dtype, isDemo, step }) => {
    let runtime: Runtime;
    let model: MiniMaxM3Model;
    let remove = (): void => undefined;
    const engines: Engine[] = [];
    const isLeftOut = isDemo && demoIsLeftOut;

    beforeAll(async () => {
      if (isLeftOut) return;
      if (isDemo) requireDemoWeights();
      const folder = isDemo ? undefined : await makeModelFolder('T32', { mxfp8: true });
      remove = () => folder?.remove();
      runtime = await open({ backend });
      const directory = folder?.path ?? demoFolder;
      model = await MiniMaxM3Model.load({ runtime, directory, dtype });
      expect(model.pageTokens).toBe(step);
    });
    afterAll(async () => {
      if (isLeftOut) return;
      for (const engine of engines) await engine.close();
      model.dispose();
      await runtime.dispose();
      remove();
    });

    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const fixed = {
        maxSequences: 4,
        maxBatchedTokens: 5 * step - 3,
        maxWaitingTokens: 1000 * step,
        checkLedger: true,
      };
      const size = { pages: 40, maxModelLength: 12 * step };
      const engine = await Engine.create({ model, ...fixed, ...size, ...options });
      engines.push(engine);
      return engine;
    }

    const promptOf = (tokens: number, first = 3): number[] =>
      Array.from({ length: tokens }, (_, i) => 3 + ((i * 37 + first) % 190));

    it.skipIf(isLeftOut)(`answers with the same bits as without it${leftOutBecause}`, async () => {
      const [without, cached] = [await start({ prefixCaching: false }), await start()];
      for (const tokens of [2 * step, 2 * step + 1, 6 * step - 1]) {
        const expected = await ask(without, promptOf(tokens));
        for (const time of ['first', 'second']) {
          const answer = await ask(cached, promptOf(tokens));
          expect(answer.events, `${tokens} tokens, ${time} time`).toEqual(expected.events);
          if (time === 'second') expect(answer.cachedTokens).toBeGreaterThan(0);
        }
      }
    });

    it.skipIf(isLeftOut)(`goes on with what it said${leftOutBecause}`, async () => {
      const [without, cached] = [await start({ prefixCaching: false }), await start()];
      let history = promptOf(step + 2);
      for (let turn = 0; turn < 3; turn += 1) {
        const answer = await ask(cached, history, { seed: turn, maxTokens: step + 5 });
        const expected = await ask(without, history, { seed: turn, maxTokens: step + 5 });
        expect(answer.events).toEqual(expected.events);
        if (turn > 0) expect(answer.cachedTokens).toBeGreaterThan(step);
        history = [...history, ...ids(answer), 5 + turn, 9];
      }
    });

    it.skipIf(isLeftOut)(
      `races with aborts and evictions change no answer${leftOutBecause}`,
      async () => {
        const random = seededRandom(isDemo ? 7 : 11);
        const requests = Array.from({ length: isDemo ? 16 : 60 }, (_, index) => ({
          prompt: [
            ...promptOf(step * random.integer(0, 5), 3 + random.integer(0, 2)),
            ...promptOf(random.integer(1, step), index % 3),
          ],
          seed: random.integer(0, 4),
          maxTokens: random.integer(1, 14),
          abortAfter: random.integer(0, 3) === 0 ? random.integer(1, 6) : 99,
        }));
        const without = await start({ prefixCaching: false });
        // So few pages that kept ones have to go again and again.
        const size = { pages: 10, maxModelLength: 8 * step };
        const cached = await start(size);
        const [expected, answers] = await Promise.all(
          [without, cached].map((engine) =>
            Promise.all(requests.map(({ prompt, ...given }) => ask(engine, prompt, given))),
          ),
        );
        expect(answers?.map(({ events }) => events)).toEqual(expected?.map(({ events }) => events));
        expect(cached.stats().prefixCache.hits).toBeGreaterThan(0);
        // A step may still run for a request that is over.
        await expect.poll(() => cached.stats().pages.pinned).toBe(0);
      },
    );

    it.skipIf(isDemo)('preemptions change no answer', async () => {
      const wide = await start({ prefixCaching: false });
      const narrow = await start({ pages: 10, maxModelLength: 8 * step });
      const given = [0, 1, 2, 3].map((seed) => ({ seed, maxTokens: 5 * step }));
      const answers = (engine: Engine): Promise<Answer[]> =>
        Promise.all(given.map((one) => ask(engine, promptOf(4 + one.seed), one)));
      const expected = await answers(wide);
      expect((await answers(narrow)).map(({ events }) => events)).toEqual(
        expected.map(({ events }) => events),
      );
      expect(wide.stats().scheduling.preemptions).toBe(0);
      expect(narrow.stats().scheduling.preemptions).toBeGreaterThan(0);
    });
  });
});
