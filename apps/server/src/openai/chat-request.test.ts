import { describe, expect, it } from 'vitest';
import { parseChatRequest } from './chat-request.js';

const base = { model: 'm', messages: [{ role: 'user', content: 'a' }] };
const tool = { type: 'function', function: { name: 'f' } };

describe('a chat request', () => {
  it.each([
    ['null fields', { temperature: null, tools: null, stop: null, stream_options: null }],
    ['unknown fields', { user: 'u', metadata: {}, what: 1 }],
    [
      'an assistant turn without content',
      {
        messages: [...base.messages, { role: 'assistant', content: null, tool_calls: [] }],
      },
    ],
    ['text parts', { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] }],
    ['the role developer', { messages: [{ role: 'developer', content: 'a' }, ...base.messages] }],
    ['tools off without tools', { tool_choice: 'none' }],
    ['tools', { tools: [tool], tool_choice: 'auto', parallel_tool_calls: false }],
    ['an output that is text', { modalities: ['text'] }],
    ['a format that is text', { response_format: { type: 'text' } }],
    ['an integer seed beyond 2^53', { seed: 2 ** 60 }],
    ['penalties', { frequency_penalty: -2, presence_penalty: 2, repetition_penalty: 0.5 }],
    ['biases, also beyond what counts', { logit_bias: { 0: 1.5, 77: -1000 } }],
    ['neutral penalties', { frequency_penalty: 0, repetition_penalty: 1, logit_bias: {} }],
    ['neutral choices', { separate_reasoning: true, priority: 0, return_token_ids: false }],
  ])('may have %s', (_, more) => {
    expect(parseChatRequest({ ...base, ...more })).toMatchObject({ model: 'm' });
  });

  it.each([
    ['tool_choice', { tool_choice: 'auto' }],
    [
      'tool_choice',
      { tools: [tool], tool_choice: { type: 'function', function: { name: 'nope' } } },
    ],
    ['tools[0].function.name', { tools: [{ type: 'function', function: { name: 'a b' } }] }],
    ['tools[2].function.name', { tools: [tool, { ...tool, function: { name: 'g' } }, tool] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'a' }] }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['modalities', { modalities: 'text' }],
    ['modalities', { modalities: [] }],
    ['seed', { seed: 1.5 }],
    ['n', { n: 0 }],
    ['min_tokens', { min_tokens: 5, max_tokens: 3 }],
    ['top_logprobs', { logprobs: true, top_logprobs: -1 }],
    ['repetition_penalty', { repetition_penalty: 0 }],
    ['repetition_penalty', { repetition_penalty: 2.1 }],
    ['frequency_penalty', { frequency_penalty: 2.1 }],
    ['presence_penalty', { presence_penalty: '1' }],
    ['logit_bias.x', { logit_bias: { x: 1 } }],
    ['logit_bias.05', { logit_bias: { '05': 1 } }],
    ['logit_bias.5', { logit_bias: { 5: '1' } }],
    ['logit_bias', { logit_bias: [1] }],
    ['stop', { stop: ['a', 5] }],
    ['reasoning_effort', { reasoning_effort: 'zz' }],
    ['thinking.type', { thinking: { type: 'zz' } }],
    ['thinking', { thinking: 5 }],
    ['chat_template_kwargs.thinking_mode', { chat_template_kwargs: { thinking_mode: 'zz' } }],
    ['chat_template_kwargs.enable_thinking', { chat_template_kwargs: { enable_thinking: 1 } }],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['separate_reasoning', { separate_reasoning: false }],
    ['prompt_logprobs', { prompt_logprobs: 0 }],
    ['return_token_ids', { return_token_ids: true }],
    ['continue_final_message', { continue_final_message: true }],
    ['add_generation_prompt', { add_generation_prompt: false }],
    ['priority', { priority: 0.5 }],
    [
      'stream_options.continuous_usage_stats',
      { stream: true, stream_options: { continuous_usage_stats: true } },
    ],
  ])('names %s', (param, more) => {
    expect(() => parseChatRequest({ ...base, ...more })).toThrow(
      expect.objectContaining({ status: 400, param }),
    );
  });

  it.each([
    [
      { stop: 5 },
      '`stop`: expected a text of 1 … 256 characters, or a list of such; received number',
    ],
    [
      { stop: {} },
      '`stop`: expected a text of 1 … 256 characters, or a list of such; received object',
    ],
    [
      { stop: '' },
      '`stop`: expected a text of 1 … 256 characters, or a list of such; received an empty one',
    ],
    [
      { stop: 'a'.repeat(257) },
      '`stop`: expected a text of 1 … 256 characters, or a list of such; received one of 257',
    ],
    [
      { stop: ['a', ''] },
      '`stop[1]`: expected a text of 1 … 256 characters, or a list of such; received an empty one',
    ],
    [
      { stop: ['a'.repeat(300)] },
      '`stop[0]`: expected a text of 1 … 256 characters, or a list of such; received one of 300',
    ],
    [{ stop: ['a', null] }, '`stop`: expected a text of 1 … 256 characters at [1], received null'],
    [{ stop: [['a']] }, '`stop`: expected a text of 1 … 256 characters at [0], received a list'],
    [
      { messages: [{ role: 'assistant', tool_calls: new Array(500_000).fill(5) }] },
      '`messages[0].tool_calls[0]`: Invalid input: expected object, received number',
    ],
    [
      { tools: [tool, tool], tool_choice: { type: 'function', function: { name: 'f' } } },
      '`tools[1].function.name`: "f" is the name of tools[0], too; give each function a name of its own',
    ],
    [
      { messages: [{ role: 'user', content: 5 }] },
      '`messages[0].content`: expected text or text parts',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      '`messages[0].content[0].text`: a text part needs its `text`',
    ],
    [JSON.parse('{"tools": [{"__proto__": {"x": 1}}]}'), 'the key __proto__ is not allowed'],
    [{ constructor: { prototype: {} } }, 'the key constructor.prototype is not allowed'],
  ])('says what is wrong: %#', (more, message) => {
    expect(() => parseChatRequest({ ...base, ...more })).toThrow(message);
  });
});
