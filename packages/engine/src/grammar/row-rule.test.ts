import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GatedMatcher } from '../../test/makers/gated-matcher.js';
import { ListMatcher } from '../../test/makers/list-matcher.js';
import { makeSequence } from '../../test/makers/sequence.js';
import type { Sequence } from '../sequence.js';
import { askMatchers, type RowRule } from './row-rule.js';

const vocab = 64;
const late = (): Sequence =>
  makeSequence({ promptTokens: 3, parameters: { grammar: new GatedMatcher(vocab, [[1]], [0]) } })
    .sequence;
const quick = (): Sequence =>
  makeSequence({ promptTokens: 3, parameters: { grammar: new ListMatcher(vocab, [[2]]) } })
    .sequence;

/** The rules of a step that is computed; undefined while it waits for more. */
async function rulesAtOnce(
  sequences: readonly Sequence[],
): Promise<readonly RowRule[] | undefined> {
  let rules: readonly RowRule[] | undefined;
  void askMatchers(sequences, vocab)
    ?.collect()
    .then((collected) => {
      rules = collected;
    });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  return rules;
}

describe('the wait of a step for its masks', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is over when all are there, or the patience is', async () => {
    expect(await rulesAtOnce([quick(), quick()])).toMatchObject([{ mask: {} }, { mask: {} }]);
    const sequences = [late(), quick()];
    expect(await rulesAtOnce(sequences)).toBeUndefined();
    const rules = askMatchers(sequences, vocab)?.collect();
    await vi.advanceTimersByTimeAsync(50);
    expect(await rules).toMatchObject([{ end: 'late' }, { mask: {} }]);
  });

  it('is not for a row that was waited for before it lost its pages', async () => {
    const held = late();
    held.isHeld = true;
    expect(await rulesAtOnce([held, quick()])).toMatchObject([{ end: 'late' }, { mask: {} }]);
    // Nor does it keep another from being waited for.
    expect(await rulesAtOnce([held, late()])).toBeUndefined();
  });
});
