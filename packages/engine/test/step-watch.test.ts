import { open, type Runtime } from '@altstream/cuda-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CapacityError, Engine, type MarkovModel, type StepPlan } from '../src/index.js';
import { collect, countingModel } from './makers/counting.js';

describe('what an engine tells of its steps', () => {
  let runtime: Runtime;
  let model: MarkovModel;

  beforeAll(async () => {
    runtime = await open({ backend: 'cpu' });
    model = await countingModel(runtime, { maxPositions: 64, pageTokens: 4 });
  });
  afterAll(async () => {
    model.dispose();
    await runtime[Symbol.asyncDispose]();
  });

  it('is every step before it is computed, and how long its parts took', async () => {
    const plans: StepPlan[] = [];
    const parts: string[] = [];
    const engine = await Engine.create({
      model,
      maxSequences: 2,
      maxBatchedTokens: 6,
      watch: {
        prefill: (id, tokens) => parts.push(`piece of ${id}, ${tokens}`),
        planned: (plan) => plans.push(plan),
        computed: (kind, ms) => parts.push(`${kind} ${ms > 0}`),
      },
    });
    const prompt = Array.from({ length: 10 }, (_, id) => id);
    await collect(engine.generate(prompt, { maxTokens: 3, temperature: 0 }));
    const { steps } = engine.stats();
    await engine.close();
    expect(plans.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, n) => n + 1));
    expect(plans[0]).toMatchObject({ decodeRows: 0, prefillPieces: 1, running: 1, waiting: 0 });
    expect(plans[0]?.pages.reserved).toBeGreaterThan(0);
    expect(plans.every(({ scheduleMs }) => scheduleMs >= 0)).toBe(true);
    const sum = (of: (plan: StepPlan) => number) => plans.reduce((all, plan) => all + of(plan), 0);
    expect(sum(({ prefillTokens }) => prefillTokens)).toBe(10);
    expect(sum(({ decodeRows }) => decodeRows)).toBe(2);
    expect(parts[0]).toBe('piece of 1, 6');
    expect(parts.filter((part) => part.startsWith('piece'))).toEqual([
      'piece of 1, 6',
      'piece of 1, 4',
    ]);
    expect(parts.filter((part) => part === 'prefill true').length).toBe(2);
    expect(parts.filter((part) => part === 'decode true').length).toBe(2);
  });

  it('refuses what would make too many tokens wait, but not what would wait alone', async () => {
    const engine = await Engine.create({
      model,
      maxSequences: 1,
      maxWaitingTokens: 20,
    });
    const long = Array.from({ length: 30 }, (_, id) => id);
    const short = long.slice(0, 10);
    const first = engine.generate(long, { maxTokens: 4, temperature: 0 });
    expect(engine.stats().waitingTokens).toBe(30);
    expect(() => engine.generate(short)).toThrow(
      expect.objectContaining({ reason: 'tokens', waitingTokens: 30 }),
    );
    expect(() => engine.generate(short)).toThrow(CapacityError);
    await collect(first);
    expect(engine.stats().waitingTokens).toBe(0);
    await collect(engine.generate(short, { maxTokens: 1 }));
    await engine.close();
  });
});
