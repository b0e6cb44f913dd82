import { seededRandom } from '@altstream/cuda-runtime/testing';
import { expect, it } from 'vitest';
import { makeScheduler } from '../../../test/makers/scheduling.js';
import { makeSequence } from '../../../test/makers/sequence.js';
import { type Batch, completesPrompt } from '../batch.js';
import { replaySchedule } from './replay.js';

/**
 * A trace of samples of few prompts on few pages, each step decided before the one before is over.
 */
function record(seed: number) {
  const random = seededRandom(seed);
  const lines: string[] = [];
  const limits = { sharing: true, maxSequences: 7, maxBatchedTokens: 16, queueTimeoutMs: 2000 };
  const made = makeScheduler(16, { ...limits, onTrace: (line) => lines.push(line) });
  const { scheduler, cache, check } = made;
  const all: ReturnType<typeof makeSequence>['sequence'][] = [];
  let flying: Batch | undefined;
  const land = (): void => {
    if (!flying) return;
    const { decode, prefill, step } = flying;
    flying = undefined;
    const drawn = [...decode, ...prefill.filter(completesPrompt).map(({ sequence }) => sequence)];
    scheduler.commit({ decode, prefill: [] });
    scheduler.commit({ decode: [], prefill }, random.uniform(0.5, 3));
    for (const sequence of drawn) {
      if (sequence.state === 'finished' || sequence.isAborted) continue;
      sequence.accept({ type: 'token', id: random.integer(0, 9), logprob: 0, top: [] });
      if (random.integer(0, 40) === 0) sequence.finish('stop');
    }
    scheduler.landed(step);
  };
  for (let now = 0; now < 6000; now += 10) {
    if (now < 2500 && random.integer(0, 9) === 0) {
      const promptTokens = [3, 8, 13, 22][random.integer(0, 4)] ?? 1;
      const parameters = { tenant: `key-${random.integer(0, 2)}` };
      for (let sample = random.integer(1, 5); sample > 0; sample -= 1) {
        const maxTokens = random.integer(1, 30);
        const { sequence } = makeSequence({ promptTokens, maxTokens, parameters });
        all.push(sequence);
        scheduler.add(sequence, now);
      }
    }
    const one = all[random.integer(0, Math.max(1, all.length))];
    if (one && random.integer(0, 30) === 0) one.isAborted = true;
    const batch = scheduler.next(now);
    land();
    check();
    flying = batch;
    if (batch?.lacksPages) land();
  }
  land();
  scheduler.next(6010);
  check();
  const trace = lines.join('\n');
  const copied = [...trace.matchAll(/"copied":\[\d/g)].length;
  return { trace, copied, isIdle: scheduler.isIdle, ...scheduler.counts, ...cache.counts };
}

it('a trace of samples with look-ahead, preemption and copies replays to the same decisions', () => {
  const sums = { copied: 0, preemptions: 0, hits: 0 };
  for (let seed = 1; seed <= 6; seed += 1) {
    const { trace, copied, preemptions, hits, isIdle } = record(seed);
    expect(isIdle).toBe(true);
    sums.copied += copied;
    sums.preemptions += preemptions;
    sums.hits += hits;
    expect(replaySchedule(trace), `seed ${seed}`).not.toHaveProperty('difference');
  }
  expect(sums.copied).toBeGreaterThan(30);
  expect(sums.preemptions).toBeGreaterThan(10);
  expect(sums.hits).toBeGreaterThan(1000);
});
