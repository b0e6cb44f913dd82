import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

const model = 'T128';
const messages = [{ role: 'user' as const, content: 'Hello there' }];
const greedy = { model, temperature: 0, max_tokens: 12 };

describe('the openai client', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128', { mxfp8: true });
    server = await startTestServer(folder.path);
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  it('lists and gets the model', async () => {
    const { data } = await server.client.models.list();
    expect(data.map(({ id }) => id)).toEqual([model]);
    expect(await server.client.models.retrieve(model)).toMatchObject({ object: 'model' });
  });

  it('completes a chat', async () => {
    const answer = await server.client.chat.completions.create({ ...greedy, messages });
    const [choice] = answer.choices;
    expect(answer.object).toBe('chat.completion');
    expect(choice?.finish_reason).toBe('length');
    expect(answer.usage?.completion_tokens).toBe(12);
    expect(answer.usage?.prompt_tokens).toBeGreaterThan(11);
  });

  it('streams the very text that it answers whole, with one finish and usage last', async () => {
    const whole = await server.client.chat.completions.create({ ...greedy, messages });
    const stream = await server.client.chat.completions.create({
      ...greedy,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    const message = whole.choices[0]?.message as {
      content: string | null;
      reasoning_content?: string;
    };
    const reasoningOf = (delta: object): string =>
      (delta as { reasoning_content?: string }).reasoning_content ?? '';
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe(message.content ?? '');
    expect(deltas.map(reasoningOf).join('')).toBe(message.reasoning_content ?? '');
    expect(deltas[0]).toEqual({ role: 'assistant', content: '' });
    const finishes = chunks.flatMap(({ choices }) =>
      choices.flatMap((one) => one.finish_reason ?? []),
    );
    expect(finishes).toEqual(['length']);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('gives every choice its own tokens, and the same ones again for the same seed', async () => {
    const request = { model, messages, n: 3, seed: 7, temperature: 1, max_tokens: 16 };
    const first = await server.client.chat.completions.create(request);
    const again = await server.client.chat.completions.create(request);
    const texts = (answer: typeof first): string[] =>
      answer.choices.map(({ message }) => JSON.stringify(message));
    expect(texts(again)).toEqual(texts(first));
    expect(new Set(texts(first)).size).toBe(3);
    expect(first.usage?.completion_tokens).toBe(48);
  });

  it('reports logprobs of each token, with alternatives in order', async () => {
    const answer = await server.client.chat.completions.create({
      ...greedy,
      messages,
      logprobs: true,
      top_logprobs: 3,
    });
    const content = answer.choices[0]?.logprobs?.content ?? [];
    expect(content).toHaveLength(12);
    for (const { token, logprob, top_logprobs: top } of content) {
      expect(top).toHaveLength(3);
      expect(top[0]).toMatchObject({ token, logprob: expect.closeTo(logprob, 4) });
      expect(top.map((one) => one.logprob)).toEqual(
        top.map((one) => one.logprob).sort((a, b) => b - a),
      );
    }
  });

  it('ends at a stop string and leaves it out', async () => {
    const free = await server.client.completions.create({
      ...greedy,
      prompt: 'abc',
      max_tokens: 24,
    });
    const text = free.choices[0]?.text ?? '';
    const stop = [...text].slice(6, 8).join('');
    const stopped = await server.client.completions.create({
      ...greedy,
      prompt: 'abc',
      max_tokens: 24,
      stop,
    });
    expect(stopped.choices[0]).toMatchObject({
      text: text.slice(0, text.indexOf(stop)),
      finish_reason: 'stop',
      stop_reason: stop,
    });
    expect(stopped.usage?.completion_tokens).toBeLessThan(24);
  });

  it('completes several prompts of token ids, each as if alone', async () => {
    const prompts = [[70, 71, 72], [90], [100, 101, 102, 103, 104]];
    const together = await server.client.completions.create({ ...greedy, prompt: prompts });
    for (const [index, prompt] of prompts.entries()) {
      const alone = await server.client.completions.create({ ...greedy, prompt });
      expect(together.choices[index]?.text).toBe(alone.choices[0]?.text);
    }
  });

  it('echoes the prompt with logprobs of every token but the first', async () => {
    const answer = await server.client.completions.create({
      ...greedy,
      prompt: 'Hey',
      echo: true,
      logprobs: 2,
      max_tokens: 3,
    });
    const [choice] = answer.choices;
    expect(choice?.text.startsWith('Hey')).toBe(true);
    expect(choice?.logprobs?.tokens?.slice(0, 3)).toEqual(['H', 'e', 'y']);
    const logprobs = choice?.logprobs?.token_logprobs as (number | null)[];
    expect(logprobs).toHaveLength(6);
    expect(logprobs[0]).toBeNull();
    expect(logprobs.slice(1).every((value) => typeof value === 'number')).toBe(true);
    expect(choice?.logprobs?.text_offset?.slice(0, 4)).toEqual([0, 1, 2, 3]);
  });

  it('shows tokens as ids when asked to', async () => {
    const answer = await server.client.completions.create({
      ...greedy,
      prompt: [80, 81],
      logprobs: 1,
      max_tokens: 2,
      ...{ return_tokens_as_token_ids: true },
    });
    expect(
      answer.choices[0]?.logprobs?.tokens?.every((token) => /^token_id:\d+$/.test(token)),
    ).toBe(true);
  });
});
