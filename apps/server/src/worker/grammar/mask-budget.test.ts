import { describe, expect, it } from 'vitest';
import { CostlyGrammarError, MaskBudget } from './mask-budget.js';

const masks = (ms: readonly number[]): number => {
  const budget = new MaskBudget();
  let count = 0;
  try {
    for (const one of ms) {
      budget.spend(one);
      count += 1;
    }
  } catch (error) {
    expect(error).toBeInstanceOf(CostlyGrammarError);
  }
  return count;
};

describe('S6: the budget of masks', () => {
  it('lasts for ever where masks take what is usual, and for a few that take long', () => {
    const usual = Array.from({ length: 10_000 }, (_, n) => (n % 500 === 0 ? 60 : 4));
    expect(masks(usual)).toBe(10_000);
    expect(masks([200, 200, 50, 1, 1])).toBe(5);
  });

  it('ends where they keep taking long, however long it was good before', () => {
    expect(masks(new Array(100).fill(110))).toBe(4);
    expect(masks([...new Array(1000).fill(0), ...new Array(100).fill(110)])).toBe(1004);
    expect(masks([600])).toBe(0);
  });
});
