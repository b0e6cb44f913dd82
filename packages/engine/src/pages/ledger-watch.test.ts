import { describe, expect, it } from 'vitest';
import { LedgerError } from '../errors/index.js';
import { LedgerWatch } from './ledger-watch.js';

describe('the watch over the ledger', () => {
  it('looks every ten seconds, tells a fault, and mends it when nothing runs', () => {
    let ms = 0;
    let checks = 0;
    let rebuilt = 0;
    let fault: Error | undefined;
    const told: Error[] = [];
    const watch = new LedgerWatch({
      check: () => {
        checks += 1;
        if (fault) throw fault;
      },
      rebuild: () => {
        rebuilt += 1;
      },
      onError: (error) => told.push(error),
      now: () => ms,
    });
    for (; ms < 25_000; ms += 1000) watch.tick();
    expect([checks, watch.errors, watch.mendWhenIdle()]).toEqual([2, 0, false]);
    fault = new LedgerError('planted');
    for (; ms < 31_000; ms += 1000) watch.tick();
    expect([watch.errors, told]).toEqual([1, [fault]]);
    expect([watch.mendWhenIdle(), watch.mendWhenIdle(), rebuilt]).toEqual([true, false, 1]);
    fault = new Error('something else');
    ms += 10_000;
    expect(() => watch.tick()).toThrow('something else');
  });
});
