import { describe, expect, it } from 'vitest';
import { requestFields } from './settings.js';

describe('requestFields', () => {
  it('leaves empty fields to the server', () => {
    expect(requestFields({ temperature: '', stop: '', tools: ' ', thinking: '', x: 'y' })).toEqual(
      {},
    );
  });

  it('turns text into the fields of the API; further fields win', () => {
    const fields = requestFields({
      ...{ temperature: '0', seed: '7', stop: 'a\n\nb', thinking: 'disabled' },
      tools: '[{"type":"function"}]',
      further: '{"seed":8}',
    });
    expect(fields).toEqual({
      temperature: 0,
      seed: 8,
      stop: ['a', 'b'],
      chat_template_kwargs: { thinking_mode: 'disabled' },
      tools: [{ type: 'function' }],
    });
  });

  it.each([
    ['temperature', '2.1', /Temperature: expected a number from 0 to 2, not 2.1/],
    ['max_tokens', '1.5', /an integer from 1/],
    ['tools', '{}', /JSON array/],
    ['tools', '[', /Tools: /],
    ['further', '[]', /JSON object/],
  ])('names the field %s of %s', (field, text, message) => {
    expect(() => requestFields({ [field]: text })).toThrow(message);
  });
});
