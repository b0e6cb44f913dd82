import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagePool } from './page-pool.js';

/** A pool of which all pages are known, a chain, and held by nobody. */
function chainOf(total: number): PagePool {
  const pool = new PagePool(total);
  pool.promise(total);
  const pages = Array.from({ length: total }, () => pool.take());
  for (const page of pages)
    pool.index.add(page, `key ${page}`, page === 0 ? '' : `key ${page - 1}`);
  pool.letGo(pages);
  return pool;
}

describe('the page pool', () => {
  it('hands out each page once and takes it back', () => {
    const pool = new PagePool(3);
    expect(pool.promise(3)).toBe(true);
    const pages = [pool.take(), pool.take(), pool.take()];
    expect(pages).toEqual([0, 1, 2]);
    expect(pool.counts()).toEqual({ total: 3, free: 0, evictable: 0, pinned: 3, reserved: 3 });
    pool.letGo(pages);
    expect(pool.counts()).toEqual({ total: 3, free: 3, evictable: 0, pinned: 0, reserved: 0 });
  });

  it('has as many pages as a small model on a large device', () => {
    const pool = new PagePool(1_000_000);
    pool.promise(2);
    expect([pool.take(), pool.take()]).toEqual([0, 1]);
    expect(pool.free).toBe(999_998);
  });

  it('promises no more than it has', () => {
    const pool = new PagePool(4);
    expect(pool.promise(3)).toBe(true);
    expect(pool.promise(2)).toBe(false);
    expect(pool.promise(1)).toBe(true);
    pool.breakPromise(2);
    expect(pool.promise(2)).toBe(true);
    expect(() => pool.breakPromise(5)).toThrow(/5 promises end of 4/);
  });

  it('names a page that comes back twice', () => {
    const pool = new PagePool(2);
    pool.promise(2);
    const page = pool.take();
    pool.letGo([page]);
    expect(() => pool.letGo([page])).toThrow(/page 0 comes back twice/);
  });

  it('refuses to hand out a page that nobody was promised', () => {
    expect(() => new PagePool(1).take()).toThrow(/never promised/);
  });

  it('evicts chains from their tails, the one that was let go first before others', () => {
    const pool = chainOf(4);
    pool.share(0);
    pool.share(1);
    pool.promise(2);
    expect([pool.take(), pool.take()]).toEqual([3, 2]);
    expect(pool.promise(1)).toBe(false);
    pool.letGo([0, 1]);
    pool.promise(2);
    expect([pool.take(), pool.take()]).toEqual([1, 0]);
  });

  it('evicts what continues a page before the page itself, however long that was held', () => {
    const pool = new PagePool(2);
    pool.promise(2);
    const [parent, child] = [pool.take(), pool.take()];
    pool.index.add(parent, 'parent', '');
    pool.index.add(child, 'child', 'parent');
    pool.letGo([parent]);
    pool.letGo([child]);
    pool.promise(1);
    expect(pool.take()).toBe(child);
  });

  it('keeps a page as long as one of its holders', () => {
    const pool = chainOf(1);
    pool.share(0);
    pool.share(0);
    expect(pool.evictAll()).toBe(0);
    pool.letGo([0]);
    expect(pool.pinned).toBe(1);
    pool.letGo([0]);
    expect(pool.evictAll()).toBe(1);
    expect([pool.free, pool.index.size]).toEqual([1, 0]);
  });

  it.each([
    ['a holder that no table has', (pool: PagePool) => pool.share(2), /page 2 counts 1 holders, 0/],
    ['a page in the index that is free', (pool: PagePool) => pool.index.add(0, 'x', ''), /is free/],
    ['a page that is kept for nothing', (pool: PagePool) => pool.index.remove(2), /page 2 is kept/],
    ['a promise that nobody was given', (pool: PagePool) => pool.promise(1), /1 pages promised, 0/],
  ])('notices %s', (_, damage, message) => {
    const pool = chainOf(3);
    pool.forget(0);
    pool.check([], 0);
    damage(pool);
    expect(() => pool.check([], 0)).toThrow(message);
  });

  it('balances after any sequence of promises, shares and evictions', () => {
    const action = fc.record({ pages: fc.integer({ min: 1, max: 6 }), taken: fc.nat({ max: 6 }) });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.nat(), (actions, salt) => {
        const pool = new PagePool(16);
        const held: { pages: number[]; promised: number }[] = [];
        actions.forEach(({ pages, taken }, index) => {
          if (pool.promise(pages)) {
            const count = Math.min(taken, pages);
            const own = Array.from({ length: count }, () => pool.take());
            for (const page of own) pool.index.add(page, `${index}/${page}`, `${index}`);
            held.push({ pages: own, promised: pages - count });
            const [first] = own;
            if (first !== undefined && (index + salt) % 2 === 0) {
              pool.share(first);
              held.push({ pages: [first], promised: 0 });
            }
          }
          const back = (index + salt) % 3 === 0 ? held.shift() : undefined;
          if (back) {
            pool.breakPromise(back.promised);
            pool.letGo(back.pages);
          }
          if ((index + salt) % 7 === 0) pool.evictAll();
          const promised = held.reduce((sum, one) => sum + one.promised, 0);
          pool.check(
            held.map((one) => one.pages),
            promised,
          );
        });
      }),
    );
  });
});
