import { DeviceLostError, OutOfMemoryError } from '@altstream/cuda-runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FinishEvent, MockEngine, StepError } from '../src/index.js';
import { collect, ids } from './makers/counting.js';
import { settledStats } from './makers/settled-stats.js';

describe('a fault of a mock engine', () => {
  let engine: MockEngine;
  const faults: Error[] = [];

  beforeEach(async () => {
    faults.length = 0;
    engine = await MockEngine.create({
      checkLedger: true,
      onFault: (error) => faults.push(error),
    });
  });
  afterEach(() => engine.close());

  /** How requests of different lengths end. */
  const ends = async (...lengths: number[]): Promise<FinishEvent[]> => {
    const all = lengths.map((maxTokens, n) => collect(engine.generate([n + 1], { maxTokens })));
    return (await Promise.all(all)).map((events) => events.at(-1) as FinishEvent);
  };
  const isFree = async (): Promise<void> => {
    const { pages, running, waiting } = await settledStats(engine);
    expect([pages.pinned, pages.reserved, running, waiting]).toEqual([0, 0, 0, 0]);
  };

  it('of a row ends that row only', async () => {
    engine.injectFault({ kind: 'row', at: 3, row: 1 });
    const [first, second, third] = await ends(9, 9, 9);
    expect([first?.reason, third?.reason]).toEqual(['length', 'length']);
    expect(second).toMatchObject({ reason: 'error', error: expect.any(StepError) });
    expect(second?.error?.message).toMatch(/no logit of the row is a number/);
    await isFree();
  });

  it('of a step ends all of its rows, and no later request', async () => {
    engine.injectFault({ kind: 'step', at: 4 });
    const all = await ends(3, 9);
    expect(all.map(({ reason }) => reason)).toEqual(['length', 'error']);
    expect(all[1]?.error?.message).toBe('decoding failed: a planted fault of a decode step');
    expect(ids(await collect(engine.generate([7], { maxTokens: 2 })))).toEqual([7, 7]);
    await isFree();
  });

  it('comes again if it should, and at prompt steps if it should', async () => {
    engine.injectFault({ kind: 'out-of-memory', during: 'prefill', at: 2, every: 3 });
    const reasons: string[] = [];
    for (let request = 0; request < 8; request += 1) {
      const [end] = await ends(2);
      reasons.push(end?.reason ?? '');
      if (end?.reason === 'error') expect(end.error?.cause).toBeInstanceOf(OutOfMemoryError);
    }
    const failed = reasons.flatMap((reason, index) => (reason === 'error' ? [index + 1] : []));
    expect(failed).toEqual([2, 5, 8]);
    await isFree();
  });

  it('that loses the device ends everything, once', async () => {
    engine.injectFault({ kind: 'device-lost', at: 2 });
    const all = await ends(9, 9);
    expect(all.map(({ reason }) => reason)).toEqual(['error', 'error']);
    expect(faults.map(({ cause }) => DeviceLostError.isInstance(cause))).toEqual([true]);
    expect(() => engine.generate([1])).toThrow(/gave up/);
  });

  it('that is slow takes its time and changes nothing else', async () => {
    engine.injectFault({ kind: 'slow', at: 1, ms: 60 });
    const began = performance.now();
    const [end] = await ends(4);
    expect(performance.now() - began).toBeGreaterThan(58);
    expect(end).toMatchObject({ reason: 'length', generatedTokens: 4 });
  });
});
