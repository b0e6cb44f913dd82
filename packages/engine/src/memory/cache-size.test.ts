import { describe, expect, it } from 'vitest';
import { MemoryError } from '../errors/index.js';
import { type CacheDemand, type MeasuredMemory, pagesDoNotFit, planCache } from './cache-size.js';

const gib = 2 ** 30;
const measured: MeasuredMemory = {
  totalBytes: 140 * gib,
  freeBytes: 30 * gib,
  workspaceBytes: 2 * gib,
  graphBytes: gib,
};
/** One rank of four of the real model: 45 312 bytes a token. */
const demand: CacheDemand = {
  pageBytes: 128 * 45_312,
  pageTokens: 128,
  maxSequences: 64,
  length: 8192,
  isLengthGiven: false,
  layerBytes: 1.78 * gib,
};

function failure(change: Partial<CacheDemand>, memory = measured, fraction = 0.9): MemoryError {
  try {
    planCache(memory, { ...demand, ...change }, fraction);
  } catch (error) {
    if (error instanceof MemoryError) return error;
    throw error;
  }
  throw new Error('it fits');
}

describe('the pages that fit', () => {
  it('are what the fraction leaves beside everything else', () => {
    const { pages, leftBytes, why } = planCache(measured, demand, 0.9);
    expect(leftBytes).toBeCloseTo(15 * gib, -2);
    expect(pages).toBe(Math.floor((15 * gib) / demand.pageBytes));
    expect(why).toBe('what memory holds at a fraction of 0.9');
  });

  it('are no more than all sequences could fill', () => {
    const { pages, why } = planCache(measured, { ...demand, maxSequences: 4 }, 0.9);
    expect([pages, why]).toEqual([4 * 64, 'all 4 sequences at their full length']);
  });

  it('are counted for a rank that keeps nothing', () => {
    expect(planCache(measured, { ...demand, pageBytes: 0 }, 0.9).pages).toBe(64 * 64);
  });
});

describe('a cache that does not fit', () => {
  it('names the context, the layers and the steps that would help', () => {
    const error = failure({ length: 2 ** 20, isLengthGiven: true });
    expect(error).toMatchObject({ code: 'ENGINE_MEMORY', context: error.pages * 128 });
    expect(error.message).toMatch(
      /one sequence of 1048576 tokens takes 44\.3 GiB, but of 140\.0 GiB only 15\.0 GiB are left .* fraction of 0\.9; what would help: `maxModelLength` up to 355\d\d\d, or about 17 layers fewer, or smaller steps \(`maxSequences`, `maxBatchedTokens`: their workspaces take 2\.0 GiB\), or `memoryFraction` above 0\.9$/,
    );
  });

  it('has room for the context that the error names', () => {
    const { context } = failure({ length: 2 ** 20, isLengthGiven: true });
    const fitting = { ...demand, length: context, isLengthGiven: true };
    expect(planCache(measured, fitting, 0.9).pages * 128).toBe(context);
  });

  it('without room for one page names no context', () => {
    const error = failure({}, { ...measured, freeBytes: 14 * gib });
    expect(error.message).toMatch(/one page takes 5\.5 MiB, but .* only 0 bytes are left/);
    expect(error.message).not.toContain('up to');
  });

  it('of given pages names how many sequences would fit', () => {
    const error = pagesDoNotFit(10_000, 20 * gib, demand, new Error('planted'));
    expect(error.message).toMatch(/10000 pages take 54\.\d GiB, but 20\.0 GiB are free/);
    expect(error.message).toMatch(/`pages` up to about 3702, 57 sequences of 8192 tokens$/);
    expect(pagesDoNotFit(10_000, gib / 10, demand, undefined).message).toMatch(
      /a context of 2304 tokens$/,
    );
  });
});
