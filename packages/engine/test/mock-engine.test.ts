import { open } from '@altstream/cuda-runtime';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  Engine,
  type GenerationParameters,
  MockEngine,
  type MockEngineOptions,
  ParameterError,
  replaySchedule,
  scriptedAnswers,
} from '../src/index.js';
import { collect, counted, countingModel, ids, vocab } from './makers/counting.js';
import { ListMatcher } from './makers/list-matcher.js';

async function start(options: MockEngineOptions = {}): Promise<MockEngine> {
  const engine = await MockEngine.create({ checkLedger: true, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

const ask = async (engine: Engine, prompt: number[], parameters: GenerationParameters = {}) =>
  collect(engine.generate(prompt, { maxTokens: 6, ...parameters }));

describe('a mock engine', () => {
  it('says the prompt again, over and over', async () => {
    const engine = await start();
    expect(ids(await ask(engine, [5, 6, 7]))).toEqual([5, 6, 7, 5, 6, 7]);
  });

  it('says scripts in turn, each until its end', async () => {
    const engine = await start({ answer: scriptedAnswers([[10, 11], [20]], 2) });
    const answers: unknown[] = [];
    for (let request = 0; request < 3; request += 1) {
      const events = await ask(engine, [1], { stopTokenIds: [2] });
      answers.push([...ids(events), events.at(-1)]);
    }
    const end = expect.objectContaining({ reason: 'stop', stop: 2 });
    expect(answers).toEqual([
      [10, 11, end],
      [20, end],
      [10, 11, end],
    ]);
  });

  it('has pages enough for a length, whatever a tenant’s share is', async () => {
    const long = { pageTokens: 128, maxModelLength: 3712, maxSequences: 1, maxTenantShare: 0.29 };
    const engine = await start(long);
    expect(engine.describe()['limits']).toMatchObject({ pages: 100, maxModelLength: 3712 });
    const { maxModelLength: _, ...same } = long;
    const unnamed = await start(same);
    expect(unnamed.describe()['limits']).toMatchObject({ maxModelLength: 4096 });
  });

  it('keeps room in the queue for others where tenants have shares', async () => {
    const engine = await start({ maxSequences: 2, maxWaiting: 4, maxTenantShare: 0.5 });
    const of = (tenant: string) => ask(engine, [5], { tenant });
    const taken = [of('a'), of('a'), of('a')];
    const message = /3 requests of this tenant run or wait already, at most 3; try again later/;
    await expect(of('a')).rejects.toMatchObject({
      ...{ code: 'ENGINE_CAPACITY', reason: 'queue' },
      message: expect.stringMatching(message),
    });
    taken.push(of('b'));
    expect((await Promise.all(taken)).map(ids)).toEqual(taken.map(() => [5, 5, 5, 5, 5, 5]));
    expect(engine.describe()['limits']).toMatchObject({ maxTenantRequests: 3 });
  });

  it('keeps to a grammar, and ends where it does', async () => {
    const engine = await start();
    const grammar = new ListMatcher(256, [[9], [70, 6], 'any', [31, 30]]);
    const [bound, free] = await Promise.all([
      ask(engine, [5, 6, 7], { grammar }),
      ask(engine, [5, 6, 7]),
    ]);
    // The script says 5, 6, 7, 5.
    expect(ids(bound)).toEqual([9, 6, 7, 30]);
    expect(bound.at(-1)).toMatchObject({ reason: 'stop', generatedTokens: 4 });
    expect(ids(free)).toEqual([5, 6, 7, 5, 6, 7]);
    expect(grammar).toMatchObject({ accepted: [9, 6, 7, 30], disposed: 1 });
  });

  it('decides as an engine on a model does, step by step', async () => {
    const runtime = await open({ backend: 'cpu' });
    const model = await countingModel(runtime, { pageTokens: 4, maxPositions: 128 });
    const trace = async (make: (options: object) => Promise<Engine>) => {
      const lines: string[] = [];
      const onTrace = (line: string) => lines.push(line);
      const limits = { pages: 16, maxSequences: 6, maxBatchedTokens: 16, checkLedger: true };
      const engine = await make({ ...limits, onTrace, now: () => 0 });
      const answers = Array.from({ length: 8 }, (_, n) => {
        return ask(engine, [1, 2, 3, 4, 5, n], { temperature: 0, maxTokens: 25 + n });
      });
      const generated = (await Promise.all(answers)).map(ids);
      const { preemptions } = engine.stats().scheduling;
      await engine.close();
      return { lines, generated, preemptions };
    };
    const real = await trace((options) => Engine.create({ ...options, model }));
    const mock = await trace((options) =>
      MockEngine.create({
        ...options,
        ...{ vocabSize: vocab, pageTokens: 4, maxPositions: 128 },
        answer: ({ prompt, generated }) => ((prompt.at(-1) ?? 0) + 1 + generated.length) % vocab,
      }),
    );
    model.dispose();
    await runtime.dispose();
    expect(mock).toEqual(real);
    expect(mock.preemptions).toBeGreaterThan(0);
    expect(mock.generated[3]).toEqual(counted(3, 28));
    expect(replaySchedule(mock.lines.join('\n')).difference).toBeUndefined();
  });

  it('takes the time that it is told', async () => {
    const engine = await start({ decodeMs: 20, prefillMsPerToken: 10 });
    const began = performance.now();
    let firstMs = 0;
    for await (const { type } of engine.generate([1, 2, 3, 4, 5], { maxTokens: 4 })) {
      if (type === 'token') firstMs ||= performance.now() - began;
    }
    // Timers may be a millisecond early.
    expect(firstMs).toBeGreaterThan(48);
    expect(performance.now() - began).toBeGreaterThan(48 + 57);
  });

  it('is certain of every token where log-probabilities are wanted', async () => {
    const engine = await start({ vocabSize: 8, maxBatchedTokens: 2 });
    const events = await ask(engine, [1, 7, 3, 7], {
      ...{ maxTokens: 2, logprobs: 2, promptLogprobs: 1 },
    });
    const of = (id: number) => ({ logprob: 0, top: [{ id, logprob: 0 }] });
    expect(events.slice(0, 3)).toEqual([
      { type: 'prompt', tokens: [of(7), of(3), of(7)] },
      { type: 'token', id: 1, ...of(1), top: [of(1).top[0], { id: 2, logprob: -Infinity }] },
      { type: 'token', id: 7, ...of(7), top: [of(7).top[0], { id: 0, logprob: -Infinity }] },
    ]);
  });

  it.each([
    [{ vocabSize: 0 }, /`vocabSize` is 0/],
    [{ decodeMs: -1 }, /`decodeMs` is -1, expected milliseconds/],
    [{ faults: [{ kind: 'fire' as 'row', at: 1 }] }, /`fault.kind` is fire, expected one of row/],
    [{ faults: [{ kind: 'row' as const, at: 0 }] }, /`fault.at` is 0/],
    [{ faults: [{ kind: 'slow' as const, at: 1 }] }, /`fault.ms` is undefined, expected above 0/],
    [{ faults: [{ kind: 'step' as const, at: 1, ms: 5 }] }, /`fault.ms` is 5, expected none/],
    [{ faults: 5 }, /`faults` is 5, expected a list of faults/],
    [{ faults: [null] }, /`fault` is null, expected an object/],
    [{ answer: 'yes' }, /`answer` is yes, expected a function/],
  ])('refuses %j', async (given, message) => {
    const options = given as MockEngineOptions;
    await expect(MockEngine.create(options)).rejects.toThrow(ParameterError);
    await expect(MockEngine.create(options)).rejects.toThrow(message);
  });

  it('refuses scripts that say nothing', () => {
    expect(() => scriptedAnswers([])).toThrow(/at least one script/);
    expect(() => scriptedAnswers([[1], []])).toThrow(/a token in each/);
  });
});
