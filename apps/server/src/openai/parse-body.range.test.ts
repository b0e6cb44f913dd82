import { describe, expect, it } from 'vitest';
import { parseChatRequest } from './chat-request.js';

const base = { model: 'm', messages: [{ role: 'user', content: 'a' }] };
const tool = { type: 'function', function: { name: 'f' } };

describe('a value out of its range', () => {
  it.each([
    [{ n: 0 }, '`n`: received 0, expected at least 1'],
    [{ n: 2 ** 60 }, `\`n\`: received ${2 ** 60}, expected at most ${2 ** 53 - 1}`],
    [{ top_p: 0 }, '`top_p`: received 0, expected more than 0'],
    [{ temperature: 2.5 }, '`temperature`: received 2.5, expected at most 2'],
    [{ tools: new Array(257).fill(tool) }, '`tools`: received a list of 257, expected at most 256'],
    [{ messages: [] }, '`messages`: received a list of 0, expected at least 1'],
    [
      { chat_template: 'a'.repeat(2 ** 18 + 1) },
      '`chat_template`: received a text of 262145 characters, expected at most 262144',
    ],
  ])('is told with what came and its bound: %#', (more, message) => {
    expect(() => parseChatRequest({ ...base, ...more })).toThrow(message);
  });

  it('is not one of another type', () => {
    const message = '`n`: Invalid input: expected number, received string';
    expect(() => parseChatRequest({ ...base, n: '1' })).toThrow(message);
  });
});
