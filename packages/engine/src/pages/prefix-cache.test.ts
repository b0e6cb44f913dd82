import { describe, expect, it } from 'vitest';
import { makeSequence } from '../../test/makers/sequence.js';
import type { Sequence } from '../sequence.js';
import { PagePool } from './page-pool.js';
import { PrefixCache } from './prefix-cache.js';

const pageTokens = 4;

function makeCache(pages = 16, isEnabled = true) {
  const pool = new PagePool(pages);
  return { pool, cache: new PrefixCache({ pool, pageTokens, isEnabled }) };
}

/** A sequence whose prompt is 0, 1, 2 … */
const counting = (promptTokens: number, cacheSalt?: string): Sequence =>
  makeSequence({ promptTokens, parameters: cacheSalt === undefined ? {} : { cacheSalt } }).sequence;

/** Computes so many tokens, all of the prompt unless told, and enters what is full. */
function compute(cache: PrefixCache, sequence: Sequence, tokens = sequence.remainingPrefill): void {
  cache.grow(sequence, sequence.computedTokens + tokens);
  sequence.computedTokens += tokens;
  sequence.landedTokens += tokens;
  cache.publish(sequence);
}

/** Admits, computes and ends a sequence. */
function serve(cache: PrefixCache, sequence: Sequence): readonly number[] {
  expect(cache.admit(sequence, 0)).toBe(true);
  const found = [...sequence.pages];
  compute(cache, sequence);
  cache.freeAfter(0, sequence);
  cache.check([]);
  return found;
}

describe('the prefix cache', () => {
  it('shares full pages only, and leaves at least one token to compute', () => {
    const { cache, pool } = makeCache();
    serve(cache, counting(11));
    expect([pool.evictable, pool.free]).toEqual([2, 14]);
    const found = [4, 5, 8, 9, 11, 12, 13].map(
      (length) => cache.search.lookup(counting(length))?.length,
    );
    expect(found).toEqual([0, 1, 1, 2, 2, 2, 2]);
    const next = counting(9);
    serve(cache, next);
    expect(next.cachedTokens).toBe(8);
    expect(cache.counts).toEqual({ queries: 20, hits: 8 });
  });

  it('keeps salts apart, and shares nothing when it is off', () => {
    const { cache } = makeCache();
    serve(cache, counting(9, 'a'));
    expect(cache.search.lookup(counting(9, 'a'))).toHaveLength(2);
    for (const salt of ['b', undefined]) expect(cache.search.lookup(counting(9, salt))).toEqual([]);
    const off = makeCache(16, false);
    serve(off.cache, counting(9));
    expect(serve(off.cache, counting(9))).toEqual([]);
    expect([off.pool.free, off.cache.counts.queries]).toEqual([16, 0]);
  });

  it('computes a prompt whose log-probabilities are wanted, and then shares it', () => {
    const { cache } = makeCache();
    const wants = () =>
      makeSequence({ promptTokens: 9, parameters: { promptLogprobs: 1 } }).sequence;
    serve(cache, wants());
    expect(serve(cache, wants())).toEqual([]);
    expect(serve(cache, counting(9))).toHaveLength(2);
  });

  it('lets a twin wait for what is being computed, two steps at most, and then gives it', () => {
    const { cache } = makeCache();
    const [first, twin] = [counting(9), counting(9)];
    const both = [first, twin];
    for (const sequence of both) cache.admit(sequence, 0);
    expect(cache.share(both)).toEqual(new Set([twin]));
    compute(cache, first, 2);
    expect(cache.share(both)).toEqual(new Set([twin]));
    compute(cache, first, 3);
    expect(cache.share(both)).toEqual(new Set([twin]));
    expect(twin.pages).toEqual(first.pages.slice(0, 1));
    for (let step = 0; step < 3; step += 1) {
      expect(cache.share(both).has(twin)).toBe(step === 0);
    }
    cache.check(both);
  });

  it('admits a sequence by the pages that it does not find and what is held back', () => {
    const { cache } = makeCache(4);
    serve(cache, counting(9));
    const [running, late] = [counting(12), counting(12)];
    expect([cache.admit(running, 0), running.pages.length]).toEqual([true, 2]);
    expect(cache.admit(late, 1)).toBe(false);
    cache.freeAfter(0, running);
    expect(cache.admit(late, 1)).toBe(true);
    cache.check([late]);
  });

  it('gives pages to others only when the last step that may write to them is over', () => {
    const { cache, pool } = makeCache();
    const sequence = counting(9);
    cache.admit(sequence, 0);
    compute(cache, sequence);
    cache.landed(6);
    cache.freeAfter(7, sequence);
    cache.check([]);
    expect([pool.pinned, pool.counts().reserved]).toEqual([3, 3]);
    cache.landed(7);
    expect([pool.pinned, pool.evictable, pool.free]).toEqual([0, 2, 14]);
  });

  it('never enters a token that was not computed for certain', () => {
    const { cache, pool } = makeCache();
    const { sequence } = makeSequence({ promptTokens: 7, maxTokens: 9 });
    cache.admit(sequence, 0);
    compute(cache, sequence);
    sequence.accept({ type: 'token', id: 5, logprob: 0, top: [] });
    // A step looks ahead: it has the page, and the sequence ends before its token is known to be
    // wanted.
    cache.grow(sequence, 8);
    sequence.finish('stop');
    cache.freeAfter(1, sequence);
    cache.landed(1);
    expect([pool.evictable, pool.index.size]).toEqual([1, 1]);
  });

  it('forgets what a failed sequence computed, and keeps what it had found', () => {
    const { cache, pool } = makeCache();
    serve(cache, counting(5));
    const failing = counting(13);
    cache.admit(failing, 0);
    compute(cache, failing, 6);
    failing.finish('error');
    cache.freeAfter(0, failing);
    expect([pool.evictable, cache.search.lookup(counting(13))?.length]).toEqual([1, 1]);
    cache.check([]);
  });

  it('flushes what nobody holds', () => {
    const { cache } = makeCache();
    serve(cache, counting(13));
    const holder = counting(6);
    cache.admit(holder, 0);
    expect(cache.flush()).toBe(2);
    expect(cache.search.lookup(counting(13))).toEqual(holder.pages);
    cache.check([holder]);
  });

  it('does not count as found what a sequence gets back after it lost its place', () => {
    const { cache } = makeCache();
    const sequence = counting(13);
    cache.admit(sequence, 0);
    compute(cache, sequence, 9);
    cache.freeAfter(0, sequence);
    cache.admit(sequence, 0);
    expect([sequence.computedTokens, sequence.cachedTokens]).toEqual([8, 0]);
    expect(cache.counts).toEqual({ queries: 13, hits: 0 });
    cache.check([sequence]);
  });
});
