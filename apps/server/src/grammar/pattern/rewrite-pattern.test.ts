import { describe, expect, it } from 'vitest';
import { startWalk } from '../../../test/grammar/makers/grammar-walk.js';
import { rewritePattern } from './rewrite-pattern.js';

const patterns = [
  ...['^.$', '^[^a-z]$', '^\\S+$', 'a|b', '^a|b$', '^"\\\\$', '^[\\s\\S]{1,3}$', 'a{2}b{1,}'],
  ...['^\\u{1F600}|\\uD83D\\uDE00$', '(?<y>\\d{4})-(\\d\\d)', '^\\W\\D$', '^(?:a|b)*?\\n$'],
  ...['[\\w.+-]+@[\\w-]+\\.[a-z]{2,}', '^/[^/]+$', '^[aéü]+$', '[à-ü]', '[\\]"-]', '\\x41\\t'],
];
const texts = [
  ...['a', 'b', 'é', '"', '\\', '\n', 'ab', '"\\', ' ', '1', '😀', '2020-10', 'a.b@c.de', '!?'],
  ...['\t', '\n\n"', 'ab\n', '/x"y', 'aabbb', 'A', 'A\t', '-', 'aé', '中'],
];

describe('a rewritten pattern', () => {
  it('means in the library what it does in JavaScript, in JSON too', async () => {
    const walk = await startWalk();
    for (const pattern of patterns) {
      const own = new RegExp(`^(?:${pattern})$`, 'u');
      const schema = { type: 'string', pattern: rewritePattern(pattern, 'json') };
      const format = { type: 'regex', pattern: rewritePattern(pattern, 'plain') };
      const json = { kind: 'schema', text: JSON.stringify(schema) } as const;
      const plain = {
        kind: 'tag',
        text: JSON.stringify({ type: 'structural_tag', format }),
      } as const;
      for (const text of texts) {
        const expected = own.test(text);
        const written = JSON.stringify(text);
        expect(await walk.takes(json, written), `${pattern} ${written}`).toBe(expected);
        expect(await walk.takes(plain, text), `${pattern}, plain ${written}`).toBe(expected);
      }
    }
  }, 60_000);

  it.each([
    ['a^b', /`\^` is supported at the beginning/],
    ['(a$|b$)', /`\$` is supported at the end/],
    ['(a', /not closed/],
    ['a)', /not opened/],
    ['[b-a]', /out of order/],
    ['[a', /middle of something/],
    ['\\p{L}', /`\\p` is not supported/],
    ['(a)\\1', /`\\1` is not supported/],
    ['a\\b', /`\\b` is not supported/],
    ['[^é]', /beyond ASCII, but not of all/],
    ['[一-鿿]', /beyond ASCII, but not of all/],
    ['\\u00', /not complete/],
    ['(?i)a', /`\(\?i\)` is not supported/],
    ['[\\x00-\\x07]', /no character that JSON can show/],
  ])('refuses %s', (pattern, message) => {
    expect(() => rewritePattern(pattern, 'json')).toThrow(message);
  });
});
