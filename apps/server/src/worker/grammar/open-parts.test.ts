import { expect, it } from 'vitest';
import type { Grammar } from '../../grammar/grammar.js';
import type { LibraryMatcher } from '../../grammar/library.js';
import { openParts } from './open-parts.js';

const [good, bad]: Grammar[] = [
  { kind: 'ebnf', text: 'good' },
  { kind: 'ebnf', text: 'bad' },
];

function library() {
  let held = 0;
  return {
    held: () => held,
    open: async ({ text }: Grammar) => {
      if (text === 'bad') throw new Error('no such grammar');
      held += 1;
      return { dispose: () => (held -= 1) } as unknown as LibraryMatcher;
    },
  };
}

it('opens a matcher for each grammar there is', async () => {
  const { open, held } = library();
  const both = await openParts({ grammar: good, calls: good }, open);
  expect([both.answer, both.calls].map((part) => part !== undefined)).toEqual([true, true]);
  expect(held()).toBe(2);
  expect(await openParts({}, open)).toEqual({ answer: undefined, calls: undefined });
  const ofCalls = await openParts({ calls: good }, open);
  expect(ofCalls.answer).toBeUndefined();
  expect(held()).toBe(3);
});

it.each([
  ['the answer', { grammar: bad, calls: good }],
  ['the calls', { grammar: good, calls: bad }],
])('holds nothing where the grammar of %s is refused', async (_, grammars) => {
  const { open, held } = library();
  await expect(openParts(grammars, open)).rejects.toThrow('no such grammar');
  expect(held()).toBe(0);
});
