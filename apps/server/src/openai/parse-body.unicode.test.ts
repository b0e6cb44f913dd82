import { describe, expect, it } from 'vitest';
import { parseChatRequest } from './chat-request.js';
import { parseCompletionRequest } from './completion-request.js';
import { findHalfPair } from './parse-body.unicode.js';
import { parseTokenizeRequest } from './text-requests.js';

const base = { model: 'm', messages: [{ role: 'user', content: 'a' }] };
const said = (content: unknown) => ({ ...base, messages: [{ role: 'user', content }] });
const part = (text: string) => ({ type: 'text', text });
const tool = (schema: object) => ({
  tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
});

describe('half of a surrogate pair', () => {
  it.each([
    ['messages[0].content', said('a\ud800')],
    ['messages[0].content', said('\udc00\ud800')],
    ['messages[0].content[1].text', said([part('a'), part('\ud83db')])],
    ['stop[1]', { ...base, stop: ['a', '\ud800'] }],
    ['what.ever', { ...base, what: { ever: '\ud800' } }],
    ['tools[0].function.parameters.a\ufffd', { ...base, ...tool({ 'a\ud800': {} }) }],
  ])('in %s is refused', (param, body) => {
    const message = /half of a surrogate pair at position [01], which is no character; send both/;
    const refusal = { status: 400, code: 'invalid_value', message: expect.stringMatching(message) };
    expect(() => parseChatRequest(body)).toThrow(expect.objectContaining({ ...refusal, param }));
  });

  it('is refused in every kind of prompt', () => {
    const prompt = { model: 'm', prompt: 'ab\ud800' };
    expect(() => parseCompletionRequest(prompt)).toThrow('`prompt`: it has half');
    expect(() => parseCompletionRequest({ ...prompt, prompt: ['a', '\ud800'] })).toThrow(
      '`prompt[1]`: it has half of a surrogate pair at position 0',
    );
    expect(() => parseTokenizeRequest(prompt)).toThrow('position 2');
  });

  it('is none within a whole pair, nor is any other character', () => {
    for (const text of ['\ud83d\ude00', '\u{10ffff}\uffff\ud7ff\ue000', '\ufffd', '']) {
      expect(findHalfPair({ [text]: [text, { text }] })).toBeUndefined();
    }
  });

  it('is found behind megabytes at once', () => {
    const text = '世界🌦 and '.repeat(2 ** 19);
    const start = performance.now();
    expect(findHalfPair({ prompt: text })).toBeUndefined();
    expect(findHalfPair({ prompt: `${text}\ud800` })?.position).toBe(text.length);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
