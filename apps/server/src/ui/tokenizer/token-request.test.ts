import { describe, expect, it } from 'vitest';
import { readInput } from './token-request.js';

describe('readInput', () => {
  it('takes messages, or a request that has them', () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    expect(readInput('chat', JSON.stringify(messages))).toEqual({
      kind: 'chat',
      chat: { messages },
    });
    const request = { model: 'm3', messages, temperature: 0 };
    expect(readInput('chat', JSON.stringify(request))).toEqual({ kind: 'chat', chat: request });
    expect(() => readInput('chat', '7')).toThrow('JSON array of messages');
    expect(() => readInput('chat', '[')).toThrow(SyntaxError);
  });

  it.each(['[1, 2, 30]', '1 2\n30', '1,2,30,', ''])('takes ids as %j', (text) => {
    const tokens = text === '' ? [] : [1, 2, 30];
    expect(readInput('ids', text)).toEqual({ kind: 'ids', tokens });
  });

  it.each(['1.5', '-1', 'a', '1e3'])('names what is no id: %j', (text) => {
    expect(() => readInput('ids', `1 ${text}`)).toThrow(`not ${text}`);
  });
});
