import { describe, expect, it } from 'vitest';
import { startWalk } from '../../../test/grammar/makers/grammar-walk.js';
import { patternRules } from './pattern-rules.js';

const patterns = [
  ...['^.$', '^[^a-z]$', '^\\S+$', 'a|b', '^a|b$', '^"\\\\$', '^[\\s\\S]{1,3}$', 'a{2}b{1,}'],
  ...['(?<y>\\d{4})-(\\d\\d)', '^\\W\\D$', '^(?:a|b)*?\\n$', '(|a)b?', 'a??', '(a|)+', '^[aéü]+$'],
  ...[
    '[\\w.+-]+@[\\w-]+\\.[a-z]{2,}',
    '^/[^/]+$',
    '\\x41\\t',
    '^<.*>$',
    '^\\[.\\]$',
    '^a\\]+.$',
    '',
  ],
];
const texts = [
  ...['a', 'b', 'é', '"', '\\', '\n', 'ab', '"\\', ' ', '1', '😀', '2020-10', 'a.b@c.de', '!?'],
  ...['\t', '\n\n"', 'ab\n', '/x"y', 'aabbb', 'A', 'A\t', '-', 'aé', '中', '', '<x>', '[x]', '[<]'],
  ...['a]]b', 'a]<', '<]<>', '<a]>', ']', '<'],
];

describe('a pattern as rules', () => {
  it('means what it does in JavaScript, but for what could begin a marker', async () => {
    const walk = await startWalk();
    for (const pattern of patterns) {
      const own = new RegExp(`^(?:${pattern})$`, 'u');
      const hasClosed = /\\\]|a\]/.test(pattern);
      const grammar = (place: 'plain' | 'json') => {
        const body = patternRules(pattern, place);
        return { kind: 'ebnf', text: `root ::= "=" (${body}) "="` } as const;
      };
      for (const text of texts) {
        // One of both characters is left to the pattern.
        const isForbidden = text.includes(hasClosed ? '<' : ']');
        const expected = own.test(text) && !isForbidden;
        const facts = `${pattern} ${JSON.stringify(text)}`;
        expect(await walk.takes(grammar('plain'), `=${text}=`), facts).toBe(expected);
        const json = JSON.stringify(text).slice(1, -1);
        expect(await walk.takes(grammar('json'), `=${json}=`), `${facts} json`).toBe(expected);
      }
    }
  }, 120_000);

  it.each([
    ['\\]<', /`<` cannot stand in it/],
    ['(?=a)b', /look-around/],
    ['a\\b', /`\\b` is not supported/],
    ['*a', /repeats nothing/],
    ['a{', /`\{` is no repeat/],
    ['[\\]]<', /`<` cannot stand/],
  ])('refuses %s', (pattern, message) => {
    expect(() => patternRules(pattern, 'plain')).toThrow(message);
  });
});
