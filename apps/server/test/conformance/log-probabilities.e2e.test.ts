import { buildByteTokenizer, ChatTokenizer } from '@altstream/minimax-m3-chat';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { chatAnswer, chatChunk, completionAnswer } from './makers/answer-shapes.js';
import { askBothWays, withoutIds } from './makers/folded.js';
import { call, invoke, param, weather } from './makers/markup.js';
import { dataOf, messages, post } from './makers/requests.js';

const tokenizer = new ChatTokenizer(buildByteTokenizer({ vocabSize: 600 }).tokenizerJson);
const idsOf = (text: string): readonly number[] => tokenizer.encode(text, { specials: true });

describe('log-probabilities', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  it('C14: a chat has the shape of chats, a text completion that of text completions', async () => {
    server.engine.scripts = [
      { text: `Hm.</mm:think>Well 🌦.${call(invoke('weather', param('city', 'Oslo')))}` },
    ];
    const more = { model: 'm3', n: 2, chat_template_kwargs: { thinking_mode: 'enabled' } };
    const chat = { ...more, messages, logprobs: true, top_logprobs: 0, tools: [weather] };
    const text = { ...more, prompt: ['a', 'b'], logprobs: 0, echo: false };
    const json = async (path: string, body: object) => (await post(server.url + path, body)).json();
    chatAnswer.parse(await json('/v1/chat/completions', chat));
    completionAnswer.parse(await json('/v1/completions', text));
    const options = { stream: true, stream_options: { include_usage: true } };
    for (const [path, body, shape] of [
      ['/v1/chat/completions', chat, chatChunk],
      ['/v1/completions', text, completionAnswer],
    ] as const) {
      const frames = dataOf(await (await post(server.url + path, { ...body, ...options })).text());
      expect(frames.pop()).toBe('[DONE]');
      expect(frames.length).toBeGreaterThan(10);
      for (const frame of frames) shape.parse(JSON.parse(frame));
    }
    const plain = (await json('/v1/chat/completions', { model: 'm3', messages })) as never;
    expect(chatAnswer.parse(plain).choices[0]?.logprobs).toBeNull();
  });

  it('C15: each token comes once, in order, on the chunk that has its text', async () => {
    const parts = [
      'I think.',
      '</mm:think>',
      'Well, it is 漢.',
      call(invoke('weather', param('city', 'Oslo'))),
    ];
    server.engine.scripts = [{ text: parts.join('') }];
    const both = await askBothWays(server.client, {
      model: 'm3',
      messages,
      tools: [weather],
      logprobs: true,
      chat_template_kwargs: { thinking_mode: 'enabled' },
    });
    expect(withoutIds(both.streamed)).toEqual(withoutIds(both.whole));
    const shown = (both.streamed[0]?.logprobs ?? []) as { bytes: number[] }[];
    expect(shown.map(({ bytes }) => bytes)).toEqual(
      idsOf(parts.join('')).map((id) => [...tokenizer.bytes.bytesOf(id)]),
    );
    // Of thoughts and content: the bytes so far hold the text so far, and at most what is held
    // back.
    let bytes = '';
    let text = '';
    for (const { choices } of both.chunks) {
      const delta = choices[0]?.delta as
        | { content?: string; reasoning_content?: string }
        | undefined;
      const tokens = choices[0]?.logprobs?.content ?? [];
      bytes += tokens.map((token) => Buffer.from(token.bytes ?? []).toString('latin1')).join('');
      text += (delta?.reasoning_content ?? '') + (delta?.content ?? '');
      const visible = Buffer.from(bytes, 'latin1').toString().replace('</mm:think>', '');
      if (delta?.content || delta?.reasoning_content)
        expect(visible.startsWith(text), text).toBe(true);
    }
  });

  it('C16: tokens that the tool parser swallows are not lost', async () => {
    const markup = call(
      invoke('weather', param('city', 'Oslo')),
      invoke('weather', param('days', '3')),
    );
    const scripts = [
      { text: markup },
      { text: markup.slice(0, -60), reason: 'length' as const },
      { text: `${markup.slice(0, 25)}oops` },
    ];
    for (const script of scripts) {
      server.engine.scripts = [script];
      const request = { model: 'm3', messages, tools: [weather], logprobs: true };
      const { whole, streamed, chunks } = await askBothWays(server.client, request);
      expect(withoutIds(streamed)).toEqual(withoutIds(whole));
      expect(streamed[0]?.logprobs).toHaveLength(idsOf(script.text).length);
      const pending = chunks.filter(({ choices }) => choices[0]?.logprobs);
      for (const { choices } of pending)
        expect(choices[0]?.logprobs?.content?.length).toBeGreaterThan(0);
    }
  });
});
