import type { ChatCompletionChunk, ChatCompletionTool } from 'openai/resources/chat/completions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from './makers/scripted-server.js';

const ns = ']<]minimax[>[';
const invoke = (name: string, inner: string): string =>
  `${ns}<invoke name="${name}">${inner}${ns}</invoke>\n`;
const field = (name: string, value: string): string => `${ns}<${name}>${value}${ns}</${name}>`;
const call = (...invokes: string[]): string =>
  `${ns}<tool_call>\n${invokes.join('')}${ns}</tool_call>`;

const tools: ChatCompletionTool[] = ['weather', 'time'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    },
  },
}));
const oslo = invoke('weather', field('city', 'Oslo 🌦') + field('days', '3'));
const rome = invoke('time', field('city', 'Rome'));
const messages = [{ role: 'user' as const, content: 'Weather?' }];
const request = { model: 'm3', messages, tools };
const thinking = (mode: string): object => ({ chat_template_kwargs: { thinking_mode: mode } });

interface Message {
  content: string | null;
  reasoning_content?: string;
  reasoning?: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
}

/** Folds chunks into a message, as clients do. */
function fold(chunks: readonly ChatCompletionChunk[]): Message & { finishes: string[] } {
  const message: Message & { finishes: string[] } = { content: null, finishes: [] };
  for (const choice of chunks.flatMap(({ choices }) => choices)) {
    const delta = choice.delta as typeof choice.delta & { reasoning_content?: string };
    if (delta.content) message.content = (message.content ?? '') + delta.content;
    if (delta.reasoning_content) {
      message.reasoning_content = (message.reasoning_content ?? '') + delta.reasoning_content;
    }
    for (const piece of delta.tool_calls ?? []) {
      message.tool_calls ??= [];
      message.tool_calls[piece.index] ??= {
        id: piece.id ?? '',
        function: { name: piece.function?.name ?? '', arguments: '' },
      };
      const known = message.tool_calls[piece.index];
      if (known) known.function.arguments += piece.function?.arguments ?? '';
    }
    if (choice.finish_reason) message.finishes.push(choice.finish_reason);
  }
  return message;
}

describe('tools and thoughts', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = await startScripted();
  });
  afterAll(() => server?.close());

  const script = (text: string, reason?: 'stop' | 'length'): void => {
    server.engine.scripts = [reason === undefined ? { text } : { text, reason }];
  };
  async function both(more: object = {}) {
    const whole = await server.client.chat.completions.create({ ...request, ...more });
    const stream = await server.client.chat.completions.create({
      ...request,
      ...more,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const choice = whole.choices[0];
    if (!choice) throw new Error('the answer has no choice');
    const folded = fold(chunks);
    const message = choice.message as unknown as Message;
    expect(folded.finishes).toEqual([choice.finish_reason]);
    expect(folded.content).toBe(message.content || null);
    expect(folded.reasoning_content).toBe(message.reasoning_content);
    const callsOf = (one: Message) => one.tool_calls?.map((each) => each.function);
    expect(callsOf(folded)).toEqual(callsOf(message));
    expect(chunks.at(-1)?.usage).toEqual(whole.usage);
    return { message, choice, usage: whole.usage, chunks };
  }

  it('calls tools, streamed and whole', async () => {
    script(`Let me see.\n${call(oslo, rome)}`);
    const { message, choice, chunks } = await both();
    expect(choice.finish_reason).toBe('tool_calls');
    expect(message.tool_calls?.map((one) => one.function)).toEqual([
      { name: 'weather', arguments: '{"city":"Oslo 🌦","days":3}' },
      { name: 'time', arguments: '{"city":"Rome"}' },
    ]);
    expect(new Set(message.tool_calls?.map(({ id }) => id)).size).toBe(2);
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(pieces.filter(({ id }) => id !== undefined)).toHaveLength(2);
    expect(pieces.length).toBeGreaterThan(6);
    expect(JSON.stringify(chunks)).not.toContain('minimax[');
  });

  it('content is null when there are only calls', async () => {
    script(call(oslo));
    expect((await both()).message.content).toBeNull();
  });

  it('ends after the first call when calls may not be parallel', async () => {
    script(call(oslo, rome));
    const { message, choice } = await both({ parallel_tool_calls: false });
    expect(message.tool_calls).toHaveLength(1);
    expect(choice.finish_reason).toBe('tool_calls');
    expect(server.engine.received.at(-1)?.isAborted).toBe(true);
  });

  it('calls nothing when tools are off, and shows no marker', async () => {
    script(call(oslo));
    const { message, choice } = await both({ tool_choice: 'none' });
    expect(message.tool_calls).toBeUndefined();
    expect(message.content).not.toContain(ns);
    expect(choice.finish_reason).toBe('stop');
  });

  it('a call that is cut off is no call that is done', async () => {
    script(call(oslo).slice(0, -40), 'length');
    const { choice } = await both();
    expect(choice.finish_reason).toBe('length');
  });

  it('separates thoughts and counts them, under both names', async () => {
    script('I think.</mm:think>\n\nHello.');
    const { message, usage } = await both(thinking('enabled'));
    expect(message).toMatchObject({
      reasoning_content: 'I think.',
      reasoning: 'I think.',
      content: 'Hello.',
    });
    const counted = usage?.completion_tokens_details?.reasoning_tokens ?? 0;
    expect(counted).toBeGreaterThanOrEqual(3);
    expect(counted).toBeLessThan(usage?.completion_tokens ?? 0);
  });

  it.each([
    ['enabled', 'all thought', { reasoning: 'all thought', content: null }],
    ['disabled', 'plain', { reasoning: undefined, content: 'plain' }],
    ['adaptive', '<mm:think>hm</mm:think>yes', { reasoning: 'hm', content: 'yes' }],
    ['adaptive', 'no thought', { reasoning: undefined, content: 'no thought' }],
  ])('thinking %s: %s', async (mode, text, expected) => {
    script(text);
    const { message } = await both(thinking(mode));
    expect(message.content).toBe(expected.content);
    expect(message.reasoning_content).toBe(expected.reasoning);
  });

  it('leaves thoughts out when they are not wanted, and still counts them', async () => {
    script('I think.</mm:think>Hello.');
    const { message, usage } = await both({ ...thinking('enabled'), include_reasoning: false });
    expect(message.reasoning_content).toBeUndefined();
    expect(message.content).toBe('Hello.');
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  it('shows every logprob exactly once, those of markers too', async () => {
    script(`Hm.</mm:think>Well.${call(oslo)}`);
    const { choice, chunks, usage } = await both({ ...thinking('enabled'), logprobs: true });
    const whole = choice.logprobs?.content ?? [];
    const streamed = chunks.flatMap(({ choices }) => choices[0]?.logprobs?.content ?? []);
    expect(streamed).toEqual(whole);
    // The token that ends the turn is counted and not shown.
    expect(whole).toHaveLength((usage?.completion_tokens ?? 0) - 1);
  });
});
