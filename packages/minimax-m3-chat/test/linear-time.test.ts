import { expect, test } from 'vitest';
import { M3OutputParser } from '../src/index.js';

const NS = ']<]minimax[>[';
const call = `${NS}<tool_call>${NS}<invoke name="f">`;
const properties = {
  p: { type: ['string', 'null'] },
  n: { type: 'integer' },
  l: { type: 'array' },
};
const tools = [{ function: { name: 'f', parameters: { properties } } }];

/** Milliseconds to take `unit` so many times. */
function time(begin: string, unit: string, times: number): number {
  const parser = new M3OutputParser({ tools });
  parser.push(begin);
  const start = performance.now();
  for (let i = 0; i < times; i++) parser.push(unit);
  parser.finish();
  return performance.now() - start;
}

// Quadratic machines need minutes for these; ours need well under a second each.
test.each([
  ['a growing string', `${call}${NS}<p>`, 'ab'],
  ['white space that may become null', `${call}${NS}<p>`, ' '],
  ['null and white space', `${call}${NS}<p>null`, ' '],
  ['white space in content', 'a', ' '],
  ['thoughts', '<mm:think>', 'x'],
  ['halves of a marker', `${call}${NS}<p>`, ']<]mini'],
  ['markers without tags', call, NS],
  ['white space behind a marker', `${call}${NS}`, ' '],
  ['a tag that never ends', `${call}${NS}<`, 'a'],
  ['parameters that repeat', `${call}${NS}<p>`, `x${NS}</p>${NS}<p>`],
  ['elements that repeat', `${call}${NS}<l>`, `x${NS}</l>${NS}<l>`],
  ['nesting without end', `${call}${NS}<p>`, `${NS}<a>`],
  ['a number that is none', `${call}${NS}<n>`, '0'],
  ['newlines behind thoughts', '</mm:think>', '\n'],
  ['blocks without calls', '', `${NS}<tool_call>`],
])('takes %s in linear time (S7)', (_, begin, unit) => {
  expect(time(begin, unit, 100_000)).toBeLessThan(5_000);
});
