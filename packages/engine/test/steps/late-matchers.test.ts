import { open } from '@altstream/cuda-runtime';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  Engine,
  type GenerationEvent,
  type GenerationParameters,
  MockEngine,
  type MockEngineOptions,
  replaySchedule,
} from '../../src/index.js';
import { collect, ids, smoothModel, vocab } from '../makers/counting.js';
import { GatedMatcher } from '../makers/gated-matcher.js';
import { ListMatcher } from '../makers/list-matcher.js';
import { settledStats } from '../makers/settled-stats.js';
import { until } from '../makers/until.js';

async function startMock(options: MockEngineOptions = {}): Promise<MockEngine> {
  const engine = await MockEngine.create({ checkLedger: true, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

const modes = ['raw', 'processed'] as const;
const lists = Array.from({ length: 12 }, (_, n) => [n, n + 5, n + 11, n + 18]);

describe('S6: a matcher that is late', () => {
  it.each([0, 3])('at token %i holds up its own request and no other', async (token) => {
    const trace: string[] = [];
    const engine = await startMock({ onTrace: (line) => trace.push(line) });
    const grammar = new GatedMatcher(256, lists, [token, token + 1]);
    const order: string[] = [];
    const follow = async (name: string, events: AsyncIterable<GenerationEvent>) => {
      for await (const { type } of events) {
        order.push(name);
        if (name === 'innocent' && type === 'finish') grammar.open(token);
      }
    };
    const late = follow('late', engine.generate([5, 6, 7], { grammar, maxTokens: 6 }));
    const others = engine.generate([1, 2], { maxTokens: 400 });
    await follow('innocent', others);
    // Not one of the other's 400 tokens waited for the mask.
    expect(order.filter((name) => name === 'late')).toHaveLength(token);
    // It was late once, so it is asked ahead; that costs nobody anything either.
    await follow('second', engine.generate([1], { maxTokens: 50 }));
    expect(order.filter((name) => name === 'late')).toHaveLength(token + 1);
    grammar.open(token + 1);
    await late;
    expect(grammar.accepted).toHaveLength(6);
    expect(grammar.waitedAt).toEqual([token, token + 1]);
    expect(grammar.disposed).toBe(1);
    const { pages } = await settledStats(engine);
    expect(pages.free + pages.evictable).toBe(pages.total);
    expect(trace.filter((line) => line.startsWith('{"late":'))).toHaveLength(1);
    expect(replaySchedule(trace.join('\n'))).not.toHaveProperty('difference');
  });

  it.each(modes)('does not change what is drawn nor its %s log-probabilities', async (mode) => {
    const runtime = await open({ backend: 'cpu' });
    const model = await smoothModel(runtime, { pageTokens: 4 });
    const options = { model, checkLedger: true, maxSequences: 4, logprobsMode: mode };
    const engine = await Engine.create(options);
    const parameters: GenerationParameters = {
      seed: 7,
      temperature: 1.5,
      logprobs: 2,
      frequencyPenalty: 1,
    };
    const run = async (gated: readonly number[], isFirst = false) => {
      const grammar = new GatedMatcher(vocab, lists, gated);
      const ask = () => collect(engine.generate([5, 7, 1, 2], { ...parameters, grammar }));
      // In the row below or above the other's, which moves when this one gives its row up.
      const before = isFirst ? ask() : undefined;
      const beside = engine.generate([9, 3], { temperature: 1, seed: 3, maxTokens: 200 });
      const answer = before ?? ask();
      for await (const { type } of beside) {
        if (type === 'token' && grammar.waitedAt.length > 0) grammar.open(grammar.accepted.length);
      }
      for (const token of gated) grammar.open(token);
      return answer;
    };
    const prompt = await run([]);
    expect(ids(prompt)).toHaveLength(12);
    for (const isFirst of [false, true]) {
      for (const gated of [[0], [4], [0, 1, 2, 5, 11]]) {
        const plain = (events: readonly GenerationEvent[]) =>
          events.map((event) => ({ ...event, cachedTokens: 0 }));
        expect(plain(await run(gated, isFirst))).toEqual(plain(prompt));
      }
    }
    await engine.close();
    model.dispose();
    await runtime.dispose();
  });

  it('can be given up, and be alone', async () => {
    const engine = await startMock();
    const grammar = new GatedMatcher(256, lists, [1]);
    const signal = new AbortController();
    const answer = collect(engine.generate([5], { grammar, signal: signal.signal }));
    await until(() => grammar.waitedAt.length > 0);
    const { steps } = engine.stats();
    await new Promise((resolve) => setTimeout(resolve, 150));
    // While it is alone, nothing is computed.
    expect(engine.stats().steps - steps).toBeLessThanOrEqual(1);
    signal.abort();
    expect((await answer).at(-1)).toMatchObject({ type: 'finish', reason: 'abort' });
    expect(grammar.disposed).toBe(1);
    const next = new ListMatcher(256, [[3]]);
    expect(ids(await collect(engine.generate([5], { grammar: next })))).toEqual([3]);
  });

  it('keeps its place while pages are lacking', async () => {
    const trace: string[] = [];
    const limits = { pages: 12, pageTokens: 4, maxPositions: 48, maxSequences: 4 };
    const engine = await startMock({ ...limits, onTrace: (line) => trace.push(line) });
    const wide = Array.from({ length: 40 }, (_, n) => [n + 1]);
    const grammar = new GatedMatcher(256, wide, [0, 7, 8]);
    const late = collect(engine.generate([5, 6, 7, 8], { grammar, maxTokens: 30 }));
    const others = [1, 2, 3].map((id) => collect(engine.generate([id, id], { maxTokens: 40 })));
    for (const token of [0, 7, 8]) {
      await until(() => grammar.waitedAt.includes(token));
      grammar.open(token);
    }
    expect(ids(await late)).toEqual(wide.slice(0, 30).flat());
    for (const one of others) expect(ids(await one)).toHaveLength(40);
    expect(engine.stats().scheduling.preemptions).toBeGreaterThan(0);
    expect(replaySchedule(trace.join('\n'))).not.toHaveProperty('difference');
  });
});
