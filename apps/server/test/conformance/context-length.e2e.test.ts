import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { messages, post } from './makers/requests.js';

const context = 100_000;

describe('prompts and answers against the context', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted();
  });
  afterEach(() => server.close());

  const complete = (body: object) => post(`${server.url}/v1/completions`, { model: 'm3', ...body });
  const ids = (count: number): number[] => new Array(count).fill(70);
  async function errorOf(answer: Response) {
    const { error } = (await answer.json()) as {
      error: { code: string; param: string; message: string };
    };
    return {
      status: answer.status,
      ...error,
      numbers: (error.message.match(/\d+/g) ?? []).map(Number),
    };
  }

  it('C19: more tokens than fit are clamped, and the answer says to what', async () => {
    server.engine.scripts = [{ text: 'abc', reason: 'never' }];
    const answer = await complete({ prompt: ids(context - 7), max_tokens: 50_000 });
    expect(answer.headers.get('x-max-tokens-clamped')).toBe('7');
    expect(await answer.json()).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 7 },
    });
    const chat = { model: 'm3', messages, max_tokens: 2 ** 31, max_completion_tokens: 2_000_000 };
    server.engine.scripts = [{ text: 'abc' }];
    const stream = await post(`${server.url}/v1/chat/completions`, { ...chat, stream: true });
    const room = context - (server.engine.received.at(-1)?.prompt.length ?? 0);
    expect(stream.headers.get('x-max-tokens-clamped')).toBe(String(room));
    expect(server.engine.received.at(-1)?.parameters.maxTokens).toBe(room);
  });

  it('C19: with --strict-max-tokens they are refused', async () => {
    await server.close();
    server = await startScripted({ strictMaxTokens: true });
    const error = await errorOf(await complete({ prompt: ids(context - 7), max_tokens: 8 }));
    expect(error).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'max_tokens',
    });
    expect(error.numbers).toEqual([context - 7, context, 8, 7]);
    expect((await complete({ prompt: ids(context - 7), max_tokens: 7 })).status).toBe(200);
    expect((await complete({ prompt: 'a' })).status).toBe(200);
  });

  it('C20: the error names tokens of the prompt, of the context, and those asked for', async () => {
    const error = await errorOf(await complete({ prompt: ids(context + 3), max_tokens: 21 }));
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'prompt' });
    expect(error.numbers).toEqual([context + 3, context, 21, context - 1]);
    const content = 'a'.repeat(2 * context);
    const chat = { model: 'm3', messages: [{ role: 'user', content }] };
    const longer = await errorOf(await post(`${server.url}/v1/chat/completions`, chat));
    expect(longer).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
    });
    expect(longer.numbers).toContain(context);
  });

  it('C21: a prompt that fills the context is refused, one token less is served whole', async () => {
    expect((await errorOf(await complete({ prompt: ids(context) }))).code).toBe(
      'context_length_exceeded',
    );
    expect(server.engine.received).toHaveLength(0);
    const answer = await complete({ prompt: ids(context - 1) });
    expect(answer.status).toBe(200);
    expect(server.engine.received[0]?.prompt).toHaveLength(context - 1);
    expect(await answer.json()).toMatchObject({ usage: { prompt_tokens: context - 1 } });
  });
});
