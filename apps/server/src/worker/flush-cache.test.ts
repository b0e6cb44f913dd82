import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { flushCache } from './flush-cache.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** An engine whose step is over, or cannot end, when it is told. */
function makeEngine() {
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const released = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const flushes: number[] = [];
  const flushPrefixCache = () => flushes.push(1);
  return { engine: { pagesReleased: () => released, flushPrefixCache }, flushes, end, fail };
}

it('waits for the step under way', async () => {
  const { engine, flushes, end } = makeEngine();
  const flushed = flushCache(engine);
  await vi.advanceTimersByTimeAsync(1000);
  expect(flushes).toEqual([]);
  end();
  expect(await flushed).toBe(1);
  expect([flushes, vi.getTimerCount()]).toEqual([[1], 0]);
});

it('waits no longer for one that hangs', async () => {
  const { engine } = makeEngine();
  const flushed = flushCache(engine);
  await vi.advanceTimersByTimeAsync(5000);
  expect(await flushed).toBe(1);
});

it('keeps no timer when the engine fails meanwhile, and says why', async () => {
  const { engine, flushes, fail } = makeEngine();
  const flushed = flushCache(engine);
  fail(new Error('the model did not go'));
  await expect(flushed).rejects.toThrow('the model did not go');
  expect([flushes, vi.getTimerCount()]).toEqual([[], 0]);
});
