import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { seededRandom } from '@altstream/cuda-runtime/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { askBothWays, withoutIds } from './makers/folded.js';
import { call, invoke, param, weather } from './makers/markup.js';

const markers = 'Between <mm:think> and </mm:think> you think. <mm:think>';
const prompts = [
  [{ role: 'user', content: 'Hi' }],
  [{ role: 'user', content: markers }],
  [
    { role: 'system', content: markers },
    { role: 'user', content: `${markers}</mm:think>` },
  ],
  [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: `I said ${markers}`, reasoning_content: 'once' },
    { role: 'user', content: 'And?</mm:think>' },
  ],
];
const says = [
  ['enabled', 'Hm.</mm:think>Yes.', 'Hm.', 'Yes.'],
  ['enabled', 'only thoughts', 'only thoughts', ''],
  ['disabled', 'Yes.', '', 'Yes.'],
  ['adaptive', 'Yes.', '', 'Yes.'],
  ['adaptive', '<mm:think>Hm.</mm:think>Yes.', 'Hm.', 'Yes.'],
] as const;

describe('thoughts', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  async function ask(text: string, more: object) {
    server.engine.scripts = [{ text }];
    const both = await askBothWays(server.client, { model: 'm3', ...more });
    expect(withoutIds(both.streamed)).toEqual(withoutIds(both.whole));
    return both;
  }

  it.each(says)(
    'C45: thinking %s, model says %j, whatever markers the prompt has',
    async (mode, text, reasoning, content) => {
      for (const messages of prompts) {
        const { whole } = await ask(text, {
          messages,
          chat_template_kwargs: { thinking_mode: mode },
        });
        expect(whole[0], JSON.stringify(messages)).toMatchObject({ reasoning, content });
      }
    },
  );

  it('C45: the AI SDK gets thoughts before text, and no marker', async () => {
    server.engine.scripts = [{ text: 'Hm.</mm:think>Yes.' }];
    const provider = createOpenAICompatible({ name: 'm3', baseURL: `${server.url}/v1` });
    const { stream } = await provider.chatModel('m3').doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      providerOptions: { m3: { reasoningEffort: 'high' } },
    });
    const texts = { 'reasoning-delta': '', 'text-delta': '' };
    const order: string[] = [];
    for await (const part of stream) {
      if (part.type !== 'reasoning-delta' && part.type !== 'text-delta') continue;
      texts[part.type] += part.delta;
      if (order.at(-1) !== part.type) order.push(part.type);
    }
    expect(texts).toEqual({ 'reasoning-delta': 'Hm.', 'text-delta': 'Yes.' });
    expect(order).toEqual(['reasoning-delta', 'text-delta']);
  });

  it('C46: a stray closer is swallowed once, and at the start only', async () => {
    const messages = prompts[3];
    for (const mode of ['disabled', 'adaptive']) {
      const more = { messages, chat_template_kwargs: { thinking_mode: mode } };
      expect((await ask('</mm:think>Yes.', more)).whole[0]).toMatchObject({
        content: 'Yes.',
        reasoning: '',
      });
      const { whole } = await ask('Use </mm:think> so.', more);
      expect(whole[0]).toMatchObject({ content: 'Use </mm:think> so.', reasoning: '' });
    }
    const twice = await ask('</mm:think></mm:think>Yes.', {
      messages,
      chat_template_kwargs: { thinking_mode: 'disabled' },
    });
    expect(twice.whole[0]?.content).toBe('</mm:think>Yes.');
  });

  it('C53: no chunk has two of thoughts, content and calls', async () => {
    const pieces = [
      'hm ',
      '</mm:think>',
      '\n\n',
      'yes',
      '<',
      '🌦',
      call(invoke('weather', param('city', 'Oslo'))),
      '<mm:think>',
    ];
    for (let seed = 0; seed < 25; seed += 1) {
      const random = seededRandom(seed);
      const text = Array.from({ length: 8 }, () => pieces[random.integer(0, pieces.length)]).join(
        '',
      );
      const mode = random.integer(0, 2) === 0 ? 'enabled' : 'adaptive';
      const more = {
        messages: prompts[0],
        tools: [weather],
        chat_template_kwargs: { thinking_mode: mode },
      };
      const { chunks } = await ask(text, { ...more, logprobs: true });
      for (const { choices } of chunks) {
        const delta = (choices[0]?.delta ?? {}) as Record<string, unknown>;
        const kinds = ['content', 'reasoning_content', 'tool_calls'].filter(
          (kind) => delta[kind] !== undefined,
        );
        expect(kinds.length, text).toBeLessThanOrEqual(1);
      }
    }
  });
});
