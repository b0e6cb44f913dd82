import { expect, it } from 'vitest';
import { startWalk } from '../../test/grammar/makers/grammar-walk.js';
import { formatPatterns } from './format-patterns.js';
import { patternRules } from './pattern/pattern-rules.js';

const cases: Readonly<
  Record<string, readonly [some: readonly string[], others: readonly string[]]>
> = {
  date: [
    ['2024-02-29', '2000-02-29', '2023-02-28', '1999-12-31', '2024-04-30', '0000-01-01'],
    ['2023-02-29', '1900-02-29', '2024-02-30', '2024-04-31', '2024-13-01', '2024-00-10', '24-1-1'],
  ],
  time: [
    ['12:30:00Z', '00:00:00.5+02:00', '23:59:59-12:30'],
    ['24:00:00Z', '12:30Z', '12:30:60Z', '12:30:00'],
  ],
  'date-time': [['2024-02-29T12:30:00Z'], ['2023-02-29T12:30:00Z', '2024-02-29 12:30:00Z']],
  duration: [
    ['P1D', 'P3W', 'P1Y2M10DT2H30M', 'PT5S', 'P2MT1M', 'PT1H'],
    ['P', 'PT', '1D', 'P1DT', 'P1H', 'P1W2D'],
  ],
  email: [
    ['a@b.de', 'first.last+tag@mail.example.org'],
    ['a@', '@b.de', 'a b@c.de', 'a@-b.de'],
  ],
  hostname: [
    ['localhost', 'a-b.example.org', `${'x'.repeat(63)}.de`],
    ['-a', 'a-', 'a..b', 'x'.repeat(64), 'a_b', ''],
  ],
  ipv4: [
    ['0.0.0.0', '255.199.25.1'],
    ['256.1.1.1', '01.1.1.1', '1.1.1', '1.1.1.1.1'],
  ],
  ipv6: [
    ['::', '::1', '1::', 'fe80::1:2', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'],
    ['1', ':1', '1:2:3:4:5:6:7', '1::2::3', '1:2:3:4:5:6:7:8:9', '12345::', '1:2:3:4:5:6:7::8:9'],
  ],
  uuid: [['123e4567-e89b-12d3-a456-426614174000'], ['123e4567e89b12d3a456426614174000', 'g']],
};

it.each(Object.keys(formatPatterns))('texts of %s are those of the format', async (format) => {
  const [some, others] = cases[format] ?? [[], []];
  expect(Math.min(some.length, others.length)).toBeGreaterThan(0);
  const walk = await startWalk();
  const body = patternRules(formatPatterns[format] ?? '', 'plain');
  const grammar = { kind: 'ebnf', text: `root ::= ${body}` } as const;
  for (const text of some) expect(await walk.takes(grammar, text), text).toBe(true);
  for (const text of others) expect(await walk.takes(grammar, text), text).toBe(false);
});
