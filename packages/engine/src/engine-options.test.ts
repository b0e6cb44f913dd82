import { describe, expect, it } from 'vitest';
import { settleOptions } from './engine-options.js';
import type { CausalModel } from './model.js';

/** Only the sizes matter here. */
const modelOf = (maxPositions: number, pageBytes: number): CausalModel =>
  ({ maxPositions, pageTokens: 16, pageBytes }) as CausalModel;

describe('the default number of pages', () => {
  it('lets every sequence have the whole context', () => {
    const { pages, maxModelLength } = settleOptions({
      model: modelOf(1000, 1024),
      maxSequences: 8,
    });
    expect([pages, maxModelLength]).toEqual([8 * 63, 1000]);
  });

  it('takes a shorter context that was asked for', () => {
    const model = modelOf(1000, 1024);
    expect(settleOptions({ model, maxSequences: 8, maxModelLength: 100 }).pages).toBe(8 * 7);
  });

  it('ends at 1 GiB, and the context with it', () => {
    const options = settleOptions({ model: modelOf(2 ** 20, 2 ** 20), maxSequences: 8 });
    expect([options.pages, options.maxModelLength]).toEqual([1024, 16 * 1024]);
  });

  it('holds one sequence of a length that was asked for, also beyond 1 GiB', () => {
    const model = modelOf(2 ** 20, 2 ** 20);
    const options = settleOptions({ model, maxSequences: 8, maxModelLength: 32_768 });
    expect([options.pages, options.maxModelLength]).toEqual([2048, 32_768]);
  });

  it('is at least one, however large a page is', () => {
    expect(settleOptions({ model: modelOf(1000, 2 ** 31) }).pages).toBe(1);
  });
});
