import { describe, expect, it } from 'vitest';
import { CostlyGrammarError, MaskBudget } from './mask-budget.js';
import { MaskMeter } from './mask-meter.js';
import { MatcherState } from './matcher-state.js';

/** A worker whose masks take what a test says. */
class Worker {
  readonly state = new MatcherState();
  #nowMs = 0;
  readonly #meter = new MaskMeter(this.state, () => this.#nowMs);

  /** @returns what the mask was allowed to take at most */
  async mask(budget: MaskBudget, ms: number, isFree = false): Promise<number | undefined> {
    this.#meter.begin(1);
    const { limitMs } = this.state.work ?? {};
    await this.#meter.measure(budget, async () => {
      this.#nowMs += ms;
      return isFree ? undefined : new Int32Array(1);
    });
    return limitMs;
  }
}

describe('S6: the time of masks in a worker that has just begun', () => {
  it('is longer by one second, which the first masks share', async () => {
    const worker = new Worker();
    expect(await worker.mask(new MaskBudget(), 700)).toBe(1300);
    expect(await worker.mask(new MaskBudget(), 210)).toBe(610);
    expect(await worker.mask(new MaskBudget(), 0)).toBe(410);
    await worker.mask(new MaskBudget(), 120);
    expect(await worker.mask(new MaskBudget(), 0)).toBe(300);
    await expect(worker.mask(new MaskBudget(), 600)).rejects.toThrow(CostlyGrammarError);
  });

  it('is as it always was behind sixteen masks, though the second was not used', async () => {
    const worker = new Worker();
    for (let mask = 0; mask < 16; mask += 1) {
      expect(await worker.mask(new MaskBudget(), 1)).toBe(1300);
    }
    expect(await worker.mask(new MaskBudget(), 1)).toBe(300);
    await expect(worker.mask(new MaskBudget(), 600)).rejects.toThrow(CostlyGrammarError);
  });

  it('does not pass while everything is allowed', async () => {
    const worker = new Worker();
    for (let mask = 0; mask < 40; mask += 1) await worker.mask(new MaskBudget(), 1, true);
    expect(await worker.mask(new MaskBudget(), 900)).toBe(1300);
  });

  it('costs the budget of a matcher what is usual', async () => {
    const worker = new Worker();
    const budget = new MaskBudget();
    await worker.mask(budget, 1010);
    await worker.mask(budget, 490);
    await expect(worker.mask(budget, 40)).rejects.toThrow(CostlyGrammarError);
  });

  it('is longer for each token that a matcher had before', () => {
    const state = new MatcherState();
    new MaskMeter(state, () => 0).begin(7, 500);
    expect(state.work).toMatchObject({ matcher: 7, limitMs: 1800 });
  });
});
