import { controlTexts } from '@altstream/minimax-m3-chat';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';

type Request = OpenAI.ChatCompletionCreateParamsNonStreaming;
type Message = OpenAI.ChatCompletionMessage & { reasoning_content?: string };

const model = 'T32';
const user = { role: 'user' as const, content: 'Say something that has a form, please.' };
const schema = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1, maximum: 99 }, s: { enum: ['a', 'bb', null] } },
  required: ['n', 's'],
};
const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string', enum: ['Oslo', 'Rome'] },
    nights: { type: 'integer', minimum: 1, maximum: 14 },
    rooms: { type: 'array', items: { $ref: '#/$defs/room' }, minItems: 1, maxItems: 2 },
    note: { type: ['boolean', 'null'] },
    extras: {
      type: 'object',
      additionalProperties: { type: 'boolean' },
      properties: { sea: { type: 'boolean' } },
      required: ['sea'],
    },
  },
  required: ['city', 'nights', 'rooms', 'note'],
  $defs: {
    room: {
      type: 'object',
      properties: {
        beds: { enum: [1, 2] },
        dates: {
          type: 'array',
          prefixItems: [{ enum: [1] }, { enum: ['x'] }],
          items: false,
          minItems: 2,
        },
      },
      required: ['beds', 'dates'],
    },
  },
};
const tools = [{ type: 'function' as const, function: { name: 'book', parameters } }];
const ajv = new Ajv2020({ strict: false });
const isOf = (rule: object, text: string | null | undefined): boolean =>
  ajv.validate(rule, JSON.parse(text ?? ''));

describe('a grammar together with', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder(model);
    const args = ['--override', 'max_position_embeddings=4096'];
    server = await startTestServer(folder.path, { args });
  }, 120_000);
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  const body = (more: object): Request =>
    ({
      model,
      messages: [user],
      max_tokens: 400,
      seed: 5,
      thinking: { type: 'disabled' },
      ...more,
    }) as Request;
  const ask = (more: object) => server.client.chat.completions.create(body(more));
  const form = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };

  /** The message of a stream put together. */
  async function streamed(more: object) {
    const stream = await server.client.chat.completions.create({ ...body(more), stream: true });
    const message = { content: '', reasoning: '', calls: [] as { name: string; text: string }[] };
    let finish: string | null = null;
    for await (const { choices } of stream) {
      const [choice] = choices;
      finish = choice?.finish_reason ?? finish;
      const delta = (choice?.delta ?? {}) as OpenAI.ChatCompletionChunk.Choice.Delta & Message;
      message.content += delta.content ?? '';
      message.reasoning += delta.reasoning_content ?? '';
      for (const { index, function: call } of delta.tool_calls ?? []) {
        const known = message.calls[index];
        if (known) known.text += call?.arguments ?? '';
        else message.calls[index] = { name: call?.name ?? '', text: call?.arguments ?? '' };
      }
    }
    return { ...message, finish };
  }

  it('n > 1, a seed and a prefix that is known: each choice of its own, and the same again', async () => {
    const one = await ask({ ...form, n: 3, temperature: 1.5 });
    const two = await ask({ ...form, n: 3, temperature: 1.5 });
    const texts = one.choices.map(({ message }) => message.content);
    for (const text of texts) expect(isOf(schema, text)).toBe(true);
    expect(new Set(texts).size).toBeGreaterThan(1);
    expect(two.choices.map(({ message }) => message.content)).toEqual(texts);
    expect(two.usage?.prompt_tokens_details?.cached_tokens).toBeGreaterThan(8);
    expect(one.choices.map((choice) => choice.finish_reason)).toEqual(['stop', 'stop', 'stop']);
  });

  it('log-probabilities: those of the model, one for each token that is shown', async () => {
    const answer = await ask({ ...form, logprobs: true, top_logprobs: 3, temperature: 0 });
    const [choice] = answer.choices;
    const tokens = choice?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join('')).toBe(choice?.message.content);
    for (const { logprob, top_logprobs: top } of tokens) {
      expect(top).toHaveLength(3);
      expect(logprob).toBeLessThanOrEqual((top[0]?.logprob ?? 0) + 1e-5);
    }
    // Some of them are not what the model would have said freely.
    expect(tokens.some(({ token, top_logprobs: top }) => token !== top[0]?.token)).toBe(true);
  });

  it('a stop string, min_tokens and max_tokens', async () => {
    const regex = '[ab]{3}-[cd]{200}';
    const stopped = await ask({ regex, stop: '-' });
    expect(stopped.choices[0]?.message.content).toMatch(/^[ab]{3}$/);
    expect(stopped.choices[0]?.finish_reason).toBe('stop');
    const patient = await ask({ regex, stop: 'c', min_tokens: 20, logit_bias: {} });
    expect(patient.choices[0]?.message.content).toMatch(/^[ab]{3}-[cd]{16,}$/);
    const cut = await ask({ regex, max_tokens: 20 });
    expect(cut.choices[0]?.message.content).toMatch(/^[ab]{3}-[cd]{16}$/);
    expect(cut.choices[0]?.finish_reason).toBe('length');
    // An end that may come before there are enough tokens does not.
    const longer = await ask({ regex: 'x{1,40}', min_tokens: 30 });
    expect(longer.choices[0]?.message.content?.length).toBeGreaterThanOrEqual(29);
    expect(longer.choices[0]?.finish_reason).toBe('stop');
  });

  it('thoughts: free until they end, then in form; the same streamed', async () => {
    // The model has learned nothing: it is told to think one token, and then to end its thoughts.
    const id = (await server.client.post('/tokenize', { body: { prompt: '</mm:think>' } })) as {
      tokens: number[];
    };
    const [close = -1] = id.tokens;
    expect(id.tokens).toHaveLength(1);
    const thinking = { type: 'enabled' };
    const asked = { ...form, thinking, temperature: 1, logit_bias: { [close]: 8 } };
    const whole = (await ask(asked)).choices[0];
    const message = whole?.message as Message;
    expect(whole?.finish_reason).toBe('stop');
    expect(isOf(schema, message.content)).toBe(true);
    const stream = await streamed(asked);
    expect([stream.content, stream.reasoning]).toEqual([
      message.content,
      message.reasoning_content ?? '',
    ]);
  });

  it.each([
    ['required', 'tool_calls'],
    [{ type: 'function', function: { name: 'book' } }, 'stop'],
  ])(
    'a forced call (%j): arguments validate, and are the same streamed',
    async (choice, reason) => {
      const forced = { tools, tool_choice: choice, parallel_tool_calls: false, max_tokens: 1500 };
      const asked = { ...forced, temperature: 1 };
      const [whole] = (await ask(asked)).choices;
      const calls = whole?.message.tool_calls ?? [];
      expect(whole?.finish_reason).toBe(reason);
      expect(whole?.message.content).toBeNull();
      expect(calls).toHaveLength(1);
      const call = calls[0] as OpenAI.ChatCompletionMessageFunctionToolCall;
      expect(call.function.name).toBe('book');
      expect(isOf(parameters, call.function.arguments), call.function.arguments).toBe(true);
      const stream = await streamed(asked);
      expect(stream.calls).toEqual([{ name: 'book', text: call.function.arguments }]);
      expect([stream.content, stream.finish]).toEqual(['', reason]);
    },
  );

  it.each([
    ['a free answer', {}],
    ['an answer that has a form', form],
  ])('a call of its own accord, where %s may come: arguments validate', async (_, more) => {
    // The model has learned nothing: it is told to call a function.
    const { tokens } = (await server.client.post('/tokenize', {
      body: { prompt: controlTexts.namespace },
    })) as { tokens: number[] };
    expect(tokens).toHaveLength(1);
    const logit_bias = { [tokens[0] ?? -1]: 40 };
    const strict = tools.map((one) => ({ ...one, function: { ...one.function, strict: true } }));
    const calling = { ...more, tools: strict, logit_bias, parallel_tool_calls: false };
    const asked = { ...calling, max_tokens: 1500, temperature: 1 };
    const [whole] = (await ask(asked)).choices;
    const [call] = (whole?.message.tool_calls ??
      []) as OpenAI.ChatCompletionMessageFunctionToolCall[];
    expect(whole?.finish_reason).toBe('tool_calls');
    expect(call?.function.name).toBe('book');
    expect(isOf(parameters, call?.function.arguments), call?.function.arguments).toBe(true);
    const stream = await streamed(asked);
    expect(stream.calls).toEqual([{ name: 'book', text: call?.function.arguments }]);
    // Without `strict` the same tokens are free, and make no arguments.
    const [free] = (await ask({ ...asked, tools, max_tokens: 60 })).choices;
    expect(free?.message.tool_calls ?? []).toEqual([]);
  });

  it('metrics: it is compiled once', async () => {
    const names = ['cache_hits_total', 'cache_misses_total', 'compile_seconds_count'];
    const counts = () =>
      Promise.all(names.map((name) => server.metric(`altstream_grammar_${name}`)));
    const [hits = 0, misses = 0, compiled = 0] = await counts();
    for (let round = 0; round < 3; round += 1) await ask({ regex: 'once' });
    expect(await counts()).toEqual([hits + 2, misses + 1, compiled + 1]);
  });

  it('a forced call that is cut off: length, and the beginning of the same arguments', async () => {
    const asked = { tools, tool_choice: 'required', temperature: 1, seed: 2, max_tokens: 60 };
    const stream = await streamed(asked);
    const [whole] = (await ask(asked)).choices;
    expect([whole?.finish_reason, stream.finish]).toEqual(['length', 'length']);
    const [call] = (whole?.message.tool_calls ?? []) as { function: { arguments: string } }[];
    expect(stream.calls.map(({ text }) => text)).toEqual(call ? [call.function.arguments] : []);
  });
});
