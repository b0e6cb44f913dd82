import { seededRandom } from '@altstream/cuda-runtime/testing';
import { expect, it } from 'vitest';
import { startWalk } from '../../../test/grammar/makers/grammar-walk.js';
import { checkSchema } from '../check-grammar.js';
import { oneOf, oneOfGrammar } from './one-of.js';

it('takes the texts of a list and no others, however alike they are', async () => {
  const walk = await startWalk();
  const random = seededRandom(99);
  const below = (count: number): number => random.integer(0, count);
  for (const letters of ['01', 'ab-', '0123456789', 'é😀"\\\n\x01|(']) {
    const all = Array.from(letters);
    const word = (most: number): string =>
      Array.from({ length: 1 + below(most) }, () => all[below(all.length)]).join('');
    for (let n = 0; n < 20; n += 1) {
      const words = new Set(Array.from({ length: 14 }, () => word(5)));
      const grammar = { kind: 'ebnf', text: oneOfGrammar([...words]) } as const;
      const checked = checkSchema({ enum: [7, ...words, null] }, 'json');
      const schema = { kind: 'schema', text: JSON.stringify(checked) } as const;
      for (const one of words) {
        expect(await walk.takes(grammar, one), one).toBe(true);
        expect(await walk.takes(schema, JSON.stringify(one)), one).toBe(true);
      }
      for (let m = 0; m < 30; m += 1) {
        const one = word(6);
        expect(await walk.takes(grammar, one), `${one} of ${[...words]}`).toBe(words.has(one));
        const json = JSON.stringify(one);
        expect(await walk.takes(schema, json), `${json} of ${[...words]}`).toBe(words.has(one));
      }
    }
  }
}, 60_000);

it('goes on with what belongs to the text', () => {
  const ways = [{ text: 'ab', next: 'x' }, { text: 'abc', next: 'y' }, { text: 'd' }, 'd'];
  expect(oneOf(ways, String)).toBe('"ab" ("c" y | x) | "d"');
  expect(oneOf([''], String)).toBe('""');
});

/** Rules of texts, how often those were looked at, and letters of all that became of them. */
function counted(texts: readonly string[]): { reads: number; made: number } {
  const counts = { reads: 0, made: 0 };
  const ways = texts.map((text) => ({
    get text() {
      counts.reads += 1;
      return text;
    },
  }));
  const body = oneOf(ways, (one) => {
    counts.made += one.length;
    return 'r';
  });
  counts.made += body.length;
  return counts;
}

it('looks at what many texts share once', () => {
  const long = 'b'.repeat(200_000);
  const two = counted([`${long}1`, `${long}2`]);
  expect(two.reads).toBeLessThan(40);
  expect(two.made).toBeLessThan(long.length + 40);
  // Each is looked at as often as it has letters, and to put them in order.
  const nested = counted(Array.from({ length: 1024 }, (_, n) => 'a'.repeat(n + 1)));
  const letters = (1024 * 1025) / 2;
  expect(nested.reads).toBeLessThan(3 * letters);
  expect(nested.made).toBeLessThan(20 * 1024);
  const different = counted(Array.from({ length: 4096 }, (_, n) => `v${n}`));
  expect(different.reads).toBeLessThan(40 * 4096);
});

it('takes a thousand texts, each of which begins the next', async () => {
  const walk = await startWalk();
  const texts = Array.from({ length: 1024 }, (_, n) => 'a'.repeat(n + 1));
  const grammar = { kind: 'ebnf', text: oneOfGrammar(texts) } as const;
  expect(await walk.takes(grammar, 'a'.repeat(1000))).toBe(true);
  expect(await walk.takes(grammar, 'a'.repeat(1025))).toBe(false);
  const schema = {
    kind: 'schema',
    text: JSON.stringify(checkSchema({ enum: texts.slice(0, 300) }, 'json')),
  } as const;
  expect(await walk.takes(schema, `"${'a'.repeat(300)}"`)).toBe(true);
});
