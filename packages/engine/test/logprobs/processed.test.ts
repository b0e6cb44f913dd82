import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  Engine,
  type EngineOptions,
  type GenerationParameters,
  type TokenEvent,
} from '../../src/index.js';
import { collect, smoothModel, vocab } from '../makers/counting.js';
import { drawnLogprobs, logprobTolerance } from '../makers/drawn-distribution.js';
import { ListMatcher } from '../makers/list-matcher.js';
import { modelOfSuite } from '../makers/model-of-suite.js';
import { changedLogits, rawLogprob } from '../makers/penalised.js';

const draws: readonly GenerationParameters[] = [
  { temperature: 0 },
  { temperature: 0.7 },
  { temperature: 1.3, topK: 5 },
  { temperature: 1, topP: 0.8 },
  { temperature: 0.9, minP: 0.1 },
  { temperature: 1.6, topK: 12, topP: 0.9, minP: 0.05 },
];
const changes: readonly GenerationParameters[] = [
  {},
  { frequencyPenalty: 0.7, presencePenalty: 0.4, repetitionPenalty: 1.2 },
  {
    logitBias: new Map([
      [3, 2.5],
      [7, -100],
      [9, Number.NEGATIVE_INFINITY],
    ]),
  },
  { frequencyPenalty: -1, minTokens: 6, stopTokenIds: [1, 5, 9, 13] },
];
/** Ids that a grammar allows for each token; `any` = all, undefined = no grammar. */
const grammars: readonly (readonly (readonly number[] | 'any')[] | undefined)[] = [
  undefined,
  [[2, 8, 20, 31], 'any', [4, 5, 6], [17], 'any', [0, 1, 2, 3, 10, 11, 12]],
];

/** A request and what it may draw. */
interface Job {
  readonly prompt: readonly number[];
  readonly parameters: GenerationParameters;
  readonly lists: (typeof grammars)[number];
}

const jobs: readonly Job[] = draws.flatMap((draw, a) =>
  changes.flatMap((change, b) =>
    grammars.map((lists, c): Job => {
      const seed = 100 * a + 10 * b + c;
      const parameters = { ...draw, ...change, seed, maxTokens: 10 + (seed % 12), logprobs: vocab };
      return { prompt: [seed % vocab, (7 * seed) % vocab], parameters, lists };
    }),
  ),
);

onEachBackend((backend) => {
  describe('log-probabilities of what tokens were drawn from', () => {
    const suite = modelOfSuite(backend, (runtime) => smoothModel(runtime, { pageTokens: 4 }));
    const engines: Engine[] = [];

    afterEach(async () => {
      for (const engine of engines.splice(0)) await engine.close();
    });
    async function start(options: Partial<EngineOptions> = {}): Promise<Engine> {
      const more = { maxSequences: 6, maxBatchedTokens: 9, ...options };
      const given = { model: suite.model, checkLedger: true, logprobsMode: 'processed' } as const;
      const engine = await Engine.create({ ...given, ...more });
      engines.push(engine);
      return engine;
    }
    async function answer(engine: Engine, { prompt, parameters, lists }: Job) {
      const grammar = lists && new ListMatcher(vocab, lists);
      const request = { ...parameters, ...(grammar && { grammar }) };
      const events = await collect(engine.generate(prompt, request));
      return events.filter((event): event is TokenEvent => event.type === 'token');
    }
    const answers = (engine: Engine, some: readonly Job[] = jobs) =>
      Promise.all(some.map((job) => answer(engine, job)));

    /** Compares every id of every token with what penalties, mask and filters leave. */
    function check({ prompt, parameters, lists }: Job, tokens: readonly TokenEvent[]): void {
      expect(tokens.length).toBeGreaterThan(0);
      tokens.forEach(({ id, logprob, top }, n) => {
        const generated = tokens.slice(0, n).map((token) => token.id);
        const logits = changedLogits(prompt, generated, parameters);
        const allowed = lists?.[n] === 'any' ? undefined : lists?.[n];
        const expected = drawnLogprobs(logits, { ...parameters, allowed } as typeof parameters);
        const what = JSON.stringify({ prompt, parameters, lists, n });
        expect(top.map((one) => one.id).sort((a, b) => a - b)).toEqual([...logits.keys()]);
        for (const one of [{ id, logprob }, ...top]) {
          const right = expected[one.id] ?? Number.NaN;
          if (Number.isFinite(right)) {
            const difference = Math.abs(one.logprob - right);
            expect(difference, what).toBeLessThanOrEqual(logprobTolerance(right));
          } else expect(one.logprob, what).toBe(right);
        }
        expect(Number.isFinite(logprob), what).toBe(true);
        expect(logprob).toBe(top.find((one) => one.id === id)?.logprob);
        expect(top.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeCloseTo(1, 5);
      });
    }

    it.each([
      ['in graphs, with look-ahead', {}],
      ['in graphs, one step at a time', { lookAhead: false }],
      ['without graphs', { graphSizes: [] }],
      ['in one row', { maxSequences: 1, maxPartialPrefills: 1 }],
      ['after preemptions', { pages: 12 }],
    ])('are right with all penalties, filters and grammars: %s', async (name, options) => {
      const engine = await start(options);
      // Beside a grammar no step is launched ahead.
      const free = jobs.filter(({ lists }) => !lists);
      for (const [index, tokens] of (await answers(engine, free)).entries()) {
        check(free[index] as Job, tokens);
      }
      const { scheduling, lookAhead } = engine.stats();
      const tokens = await answers(engine);
      for (const [index, job] of jobs.entries()) check(job, tokens[index] ?? []);
      expect(scheduling.preemptions > 0).toBe(name === 'after preemptions');
      expect(lookAhead.aheadSteps > 0).toBe(!('lookAhead' in options));
    });

    it('are the same bits in every company', async () => {
      const alone = await start({ maxSequences: 1, lookAhead: false });
      const expected: TokenEvent[][] = [];
      for (const job of jobs) expected.push(await answer(alone, job));
      const strip = (tokens: readonly TokenEvent[][]) =>
        tokens.map((some) => some.map(({ id, logprob, top }) => ({ id, logprob, top })));
      for (const maxSequences of [3, 16]) {
        expect(strip(await answers(await start({ maxSequences })))).toEqual(strip(expected));
      }
    });

    it('end what has nothing to draw from as it ends without them, and no other', async () => {
      const engine = await start();
      const every = Array.from({ length: vocab }, (_, id) => id);
      const more = { logprobs: 2, temperature: 0, minTokens: 9 };
      const [none, stuck, fine] = await Promise.all([
        collect(engine.generate([1], { ...more, stopTokenIds: every })),
        collect(
          engine.generate([1], {
            ...more,
            stopTokenIds: [8],
            grammar: new ListMatcher(vocab, [[5], [8]]),
          }),
        ),
        collect(engine.generate([1], { logprobs: 2, maxTokens: 9 })),
      ]);
      expect(none).toMatchObject([{ type: 'finish', reason: 'error' }]);
      expect(stuck).toMatchObject([{ id: 5 }, { type: 'finish', reason: 'stop' }]);
      expect(fine.at(-1)).toMatchObject({ reason: 'length', generatedTokens: 9 });
    });

    it('are as many as were asked for, and the model’s where none were, also of prompts', async () => {
      const engine = await start();
      const forced = { temperature: 0, maxTokens: 3, logitBias: new Map([[7, 100]]) };
      const requests = [undefined, 0, 3].map(async (logprobs) => {
        const asked = logprobs === undefined ? forced : { ...forced, logprobs };
        return collect(engine.generate([4, 5, 6], { ...asked, promptLogprobs: 0 }));
      });
      const all = await Promise.all(requests);
      const tokens = all.map((events) =>
        events.filter((event): event is TokenEvent => event.type === 'token'),
      );
      expect(tokens.map((some) => some.map(({ top }) => top.length))).toEqual([
        [0, 0, 0],
        [0, 0, 0],
        [3, 3, 3],
      ]);
      tokens[0]?.forEach(({ logprob }, n) => {
        expect(logprob).toBeCloseTo(rawLogprob(n === 0 ? 6 : 7, 7), 5);
      });
      for (const { logprob } of [...(tokens[1] ?? []), ...(tokens[2] ?? [])]) {
        expect(logprob).toBeCloseTo(0, 5);
      }
      for (const events of all) {
        const [prompt] = events;
        const values = prompt?.type === 'prompt' ? prompt.tokens : [];
        expect(values.map(({ logprob }) => logprob)).toEqual([
          expect.closeTo(rawLogprob(4, 5), 5),
          expect.closeTo(rawLogprob(5, 6), 5),
        ]);
      }
    });
  });
});
