import { cpus } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { BenchResult, BenchRow } from './bench-case.js';
import { table } from './table.js';

function result(rows: readonly BenchRow[], more: Partial<BenchResult> = {}): BenchResult {
  return {
    bench: 'topk',
    device: 'some cpu',
    commit: 'abc',
    command: 'x',
    date: '',
    rows,
    ...more,
  };
}

const row = (tokens: number, us: number): BenchRow => ({ case: { tokens }, us, right: true });
const cores = cpus().length;

describe('a table of a bench', () => {
  it('has a wrong row without a time, and a speed-up against the saved run', () => {
    const text = table(
      result([row(1, 4), { case: { tokens: 2 }, right: false }]),
      result([row(1, 8)], { commit: 'def', load: 0.1 }),
    );
    const [, , first = '', second = '', mean] = text.split('\n');
    expect(first).toMatch(/tokens 1 +4\.00 +2\.00x +yes$/);
    expect(second).toMatch(/tokens 2 +– .* NO$/);
    expect(mean).toBe('geometric mean 2.00x over 1 cases saved at commit def, load 0.1');
  });

  it('has the columns that a row fills, and one a peer', () => {
    const [, titles = '', line = ''] = table(
      result([{ ...row(1, 4), gbps: 12, tokensPerSecond: 250_000, peers: { eager: 9 } }]),
    ).split('\n');
    expect(titles).toMatch(/^case +µs +GB\/s +tokens\/s +eager µs +right$/);
    expect(line).toMatch(/^tokens 1 +4\.00 +12\.0 +250000 +9\.00 +yes$/);
  });

  it('says how a row does against its fastest peer, and whether that meets its target', () => {
    const held = (value: number): BenchRow => ({
      ...row(1, 4 * value),
      peers: { eager: 4 },
      ofPeer: value,
      target: { what: 'of eager', value, most: 1 },
    });
    const [, titles = '', met, missed, free] = table(
      result([held(0.5), held(1.25), { ...row(2, 4), peers: { eager: 4 }, ofPeer: 1 }]),
    ).split('\n');
    expect(titles).toMatch(/eager µs +of peer +target +right$/);
    expect(met).toMatch(/ 4\.00 +0\.50 +met +yes$/);
    expect(missed).toMatch(/ 4\.00 +1\.25 +MISSED +yes$/);
    expect(free).toMatch(/ 4\.00 +1\.00 +– +yes$/);
  });

  it('warns of a load above half a core per core, and of others above a tenth', () => {
    const quiet = { load: 0.5 * cores, othersBusy: 0.1 * cores };
    expect(table(result([row(1, 4)], quiet))).not.toContain('WARNING');
    const loaded = table(result([row(1, 4)], { load: 0.5 * cores + 1 }));
    expect(loaded).toContain(`WARNING: load ${0.5 * cores + 1} at the start`);
    const shared = table(result([row(1, 4)], { load: 0, othersBusy: cores }));
    expect(shared).toContain(`WARNING: other processes kept ${cores} cores busy`);
  });
});
