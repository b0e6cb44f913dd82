import { describe, expect, it } from 'vitest';
import { roomAfter } from './context-room.js';

const context = { contextTokens: 10, param: 'prompt' } as const;

describe('the room after a prompt', () => {
  it.each([
    [4, undefined, { maxTokens: undefined, isClamped: false }],
    [4, 6, { maxTokens: 6, isClamped: false }],
    [4, 7, { maxTokens: 6, isClamped: true }],
    [9, 1, { maxTokens: 1, isClamped: false }],
  ])('%i tokens, %s wanted', (prompt, wanted, expected) => {
    expect(roomAfter(prompt, wanted, context)).toEqual(expected);
  });

  it('refuses a prompt that leaves none', () => {
    expect(() => roomAfter(10, 1, context)).toThrow(
      /10 tokens, the context 10 and max_tokens asks for 1 more; at most 9/,
    );
  });
});
