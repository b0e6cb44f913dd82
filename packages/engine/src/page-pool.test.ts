import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PagePool } from './page-pool.js';

describe('the page pool', () => {
  it('hands out each page once and takes it back', () => {
    const pool = new PagePool(3);
    expect(pool.reserve(3)).toBe(true);
    const pages = [pool.take(), pool.take(), pool.take()];
    expect(pages).toEqual([0, 1, 2]);
    expect(pool.free).toBe(0);
    pool.giveBack(pages, 3);
    expect({ free: pool.free, reserved: pool.reserved }).toEqual({ free: 3, reserved: 0 });
  });

  it('promises no more than it has', () => {
    const pool = new PagePool(4);
    expect(pool.reserve(3)).toBe(true);
    expect(pool.reserve(2)).toBe(false);
    expect(pool.reserve(1)).toBe(true);
  });

  it('names a page that comes back twice', () => {
    const pool = new PagePool(2);
    pool.reserve(2);
    const page = pool.take();
    pool.giveBack([page], 1);
    expect(() => pool.giveBack([page], 1)).toThrow(/page 0 comes back twice/);
  });

  it('refuses to hand out a page that nobody reserved', () => {
    const pool = new PagePool(1);
    pool.reserve(1);
    pool.take();
    expect(() => pool.take()).toThrow(/never reserved/);
  });

  it('balances after any sequence of reservations', () => {
    const action = fc.record({ pages: fc.integer({ min: 1, max: 6 }), taken: fc.nat({ max: 6 }) });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), fc.nat(), (actions, salt) => {
        const pool = new PagePool(16);
        const held: { pages: number[]; reserved: number }[] = [];
        actions.forEach(({ pages, taken }, index) => {
          if (pool.reserve(pages)) {
            const count = Math.min(taken, pages);
            held.push({ pages: Array.from({ length: count }, () => pool.take()), reserved: pages });
          }
          const back = (index + salt) % 3 === 0 ? held.shift() : undefined;
          if (back) pool.giveBack(back.pages, back.reserved);
          pool.check();
        });
        for (const { pages, reserved } of held) pool.giveBack(pages, reserved);
        pool.check();
        expect(pool.free).toBe(16);
        expect(pool.reserved).toBe(0);
      }),
    );
  });
});
