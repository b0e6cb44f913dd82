import { expect, it } from 'vitest';
import type { ChatAnswer } from './chat-answer.js';
import { decodeSpeed } from './decode-speed.js';

const answer = (completionTokens: number, timing: Partial<ChatAnswer['timing']>): ChatAnswer => ({
  content: 'four',
  reasoning: '',
  toolCalls: [],
  finishReason: 'stop',
  completionTokens,
  timing: { totalMs: 1000, ...timing },
});

it('counts the tokens after the first one', () => {
  expect(decodeSpeed(answer(11, { firstMs: 50, lastMs: 550 }))).toBe(20);
});

it.each([
  ['tokens that came all at once', answer(15, { firstMs: 852, lastMs: 852.7 })],
  ['one token', answer(1, { firstMs: 50, lastMs: 550 })],
  ['an answer without a first piece', answer(11, {})],
])('knows no speed of %s', (_, given) => {
  expect(decodeSpeed(given)).toBeUndefined();
});
