import { open, type Runtime } from '@altstream/cuda-runtime';
import { seededRandom } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Engine, type GenerationEvent, type MarkovModel } from '../../src/index.js';
import { counted, countingModel } from '../makers/counting.js';
import { settledStats } from '../makers/settled-stats.js';
import { until } from '../makers/until.js';

const requests = 10_000;

describe('aborts that race', () => {
  let runtime: Runtime;
  let model: MarkovModel;

  beforeAll(async () => {
    runtime = await open({ backend: 'cpu' });
    model = await countingModel(runtime, { pageTokens: 4, maxPositions: 64 });
  });
  afterAll(async () => {
    model.dispose();
    await runtime.dispose();
  });

  it(`C4: of ${requests} requests that come and are given up at random each has one end, and no page is lost`, async () => {
    const random = seededRandom(4);
    const faults: Error[] = [];
    const engine = await Engine.create({
      model,
      pages: 40,
      maxSequences: 8,
      maxWaiting: 64,
      maxWaitingTokens: 10_000,
      maxBatchedTokens: 24,
      checkLedger: true,
      onFault: (error) => faults.push(error),
    });
    const ends = { length: 0, abort: 0 };
    let lateEvents = 0;
    const live = new Set<() => void>();
    let submitted = 0;
    const submit = (): void => {
      submitted += 1;
      const last = random.integer(0, 32);
      const prompt = [...Array.from({ length: random.integer(0, 14) }, () => 1), last];
      const expected = counted(last, 12);
      const seen: number[] = [];
      let isOver = false;
      const onEvent = (event: GenerationEvent): void => {
        if (isOver) lateEvents += 1;
        if (event.type === 'token') seen.push(event.id);
        if (event.type !== 'finish') return;
        isOver = true;
        live.delete(abort);
        if (event.reason === 'abort' || event.reason === 'length') ends[event.reason] += 1;
        expect(seen).toEqual(expected.slice(0, seen.length));
        expect(event.reason === 'length' ? seen.length : 12).toBe(12);
      };
      const { abort } = engine.submit(prompt, { temperature: 0, maxTokens: 12 }, onEvent);
      live.add(abort);
      // Some are given up twice, or long after their end.
      const when = random.integer(0, 4);
      if (when === 0) abort();
      if (when === 1) setTimeout(abort, random.integer(0, 6));
      if (when === 2 && random.integer(0, 3) === 0) for (const one of [...live].slice(0, 3)) one();
    };
    // Places get free while these turns pass, or the test's own limit ends it.
    while (submitted < requests) {
      const burst = random.integer(1, 12);
      for (let n = 0; n < burst && submitted < requests && live.size < 60; n += 1) submit();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => live.size === 0);
    expect(lateEvents).toBe(0);
    expect(ends.length + ends.abort).toBe(requests);
    expect(Math.min(ends.length, ends.abort)).toBeGreaterThan(requests / 10);
    expect(faults).toEqual([]);
    const { pages, running, waiting } = await settledStats(engine);
    expect([pages.pinned, pages.reserved, running, waiting]).toEqual([0, 0, 0, 0]);
    await engine.close();
  });
});
