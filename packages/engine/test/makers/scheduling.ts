import type { TokenEvent } from '../../src/generation-event.js';
import { PagePool } from '../../src/pages/page-pool.js';
import { PrefixCache } from '../../src/pages/prefix-cache.js';
import { type Batch, completesPrompt } from '../../src/scheduler/batch.js';
import { Scheduler } from '../../src/scheduler/scheduler.js';
import type { SchedulerOptions } from '../../src/scheduler/scheduler-options.js';

const token: TokenEvent = { type: 'token', id: 7, logprob: -1, top: [] };

/** A scheduler over a pool of pages of 4 tokens, with every limit small. */
export function makeScheduler(
  pages: number,
  { sharing = false, ...limits }: Partial<SchedulerOptions> & { sharing?: boolean } = {},
) {
  const pool = new PagePool(pages);
  const cache = new PrefixCache({ pool, pageTokens: 4, isEnabled: sharing });
  const scheduler = new Scheduler({
    cache,
    maxSequences: 4,
    maxBatchedTokens: 8,
    maxPartialPrefills: 2,
    longPrefillTokenThreshold: 0,
    itlTargetMs: 0,
    queueTimeoutMs: 0,
    ...limits,
  });
  return { pool, cache, scheduler, check: () => cache.check(scheduler.live) };
}

/** Does with a batch what the engine would: both parts, then a token for each row that has one. */
export function compute(scheduler: Scheduler, batch: Batch, msPerPromptToken?: number): void {
  scheduler.commit({ ...batch, prefill: [] });
  for (const sequence of batch.decode) sequence.accept(token);
  const complete = batch.prefill.filter(completesPrompt);
  const tokens = batch.prefill.reduce((sum, piece) => sum + piece.tokens, 0);
  const ms = msPerPromptToken === undefined ? undefined : tokens * msPerPromptToken;
  if (tokens > 0) scheduler.commit({ decode: [], prefill: batch.prefill }, ms);
  for (const { sequence } of complete) sequence.accept(token);
  scheduler.landed(batch.step);
}

/** Steps of 10 ms until nothing is left, with the books checked after each. @returns how many */
export function runAll(
  { scheduler, check }: ReturnType<typeof makeScheduler>,
  onBatch: (batch: Batch, step: number) => void = () => undefined,
): number {
  let steps = 0;
  for (; !scheduler.isIdle; steps += 1) {
    if (steps > 100_000) throw new Error('the scheduler does not come to an end');
    const batch = scheduler.next(steps * 10);
    if (batch) {
      onBatch(batch, steps);
      compute(scheduler, batch);
    }
    check();
  }
  return steps;
}
