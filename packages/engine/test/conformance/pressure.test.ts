import { seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { makeScheduler, runAll } from '../makers/scheduling.js';
import { makeSequence } from '../makers/sequence.js';

/**
 * Serves requests that all come at once, in this order.
 *
 * @returns the longest time, in steps, in which the first one that was not done yet got nothing
 */
function serve(pages: number, requests: readonly { promptTokens: number; maxTokens: number }[]) {
  const made = makeScheduler(pages, { maxSequences: 16, maxBatchedTokens: 16 });
  const all = requests.map((request) => makeSequence(request).sequence);
  for (const sequence of all) made.scheduler.add(sequence, 0);
  let [first, moved, longestPause] = [0, 0, 0];
  const steps = runAll(made, ({ decode, prefill }, step) => {
    const isDone = (): boolean => all[first]?.state === 'finished';
    for (; isDone(); first += 1) moved = step;
    const busy = [...decode, ...prefill.map(({ sequence }) => sequence)];
    if (busy.some((sequence) => sequence === all[first])) moved = step;
    longestPause = Math.max(longestPause, step - moved);
  });
  for (const { state, generated, maxTokens } of all) {
    expect([state, generated.length]).toEqual(['finished', maxTokens]);
  }
  const { preemptions } = made.scheduler.counts;
  const tokens = all.reduce((sum, { maxTokens }) => sum + maxTokens, 0);
  return { steps, preemptions, longestPause, tokens };
}

describe('a cache that is full', () => {
  it('C38: long prompts at its limit do not thrash: more requests at once are never served more slowly', () => {
    // Each needs 11 of 32 pages for its prompt, and 5 more for its answer.
    const request = { promptTokens: 43, maxTokens: 20 };
    const rates: number[] = [];
    for (const count of [1, 2, 4, 8, 16, 32]) {
      const { steps, preemptions, tokens } = serve(32, new Array(count).fill(request));
      expect(preemptions).toBeLessThanOrEqual(count);
      rates.push(tokens / steps);
    }
    for (const [index, rate] of rates.entries()) {
      expect(rate, `${rates}`).toBeGreaterThanOrEqual(0.95 * (rates[index - 1] ?? 0));
    }
    expect(rates.at(-1)).toBeGreaterThan(1.2 * (rates[0] ?? 0));
  });

  it('C39: who lost its place gets it back: whoever came first waits for what runs at most', () => {
    let preemptions = 0;
    for (let seed = 0; seed < 60; seed += 1) {
      const random = seededRandom(seed);
      const requests = Array.from({ length: 48 }, () => ({
        promptTokens: random.integer(1, 60),
        maxTokens: random.integer(1, 50),
      }));
      const result = serve(30, requests);
      preemptions += result.preemptions;
      // What runs ends within 50 tokens and the pieces of its prompts, and nobody comes in before
      // the first.
      const pieces = Math.ceil((30 * 4) / 16);
      expect(result.longestPause, `seed ${seed}`).toBeLessThanOrEqual(50 + pieces);
      expect(result.steps).toBeGreaterThan(4 * (50 + pieces));
    }
    expect(preemptions).toBeGreaterThan(100);
  });
});
