import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { messages, post } from './makers/requests.js';

const wire = (code: string, facts: Record<string, unknown> = {}) => ({
  name: 'Error',
  code,
  message: `planted ${code}`,
  facts,
});

describe('refusals', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted({ apiKeys: ['right'] });
  });
  afterEach(() => server.close());

  const key = { authorization: 'Bearer right' };
  const chat = { model: 'm3', messages };

  /** A client that retries as it does by default, and the requests that it made. */
  function patientClient(apiKey = 'right') {
    const sent: number[] = [];
    const waits: number[] = [];
    const client = new OpenAI({
      baseURL: `${server.url}/v1`,
      apiKey,
      fetch: async (url, init) => {
        sent.push(performance.now());
        const answer = await fetch(url, init);
        waits.push(Number(answer.headers.get('retry-after-ms')));
        return answer;
      },
    });
    return { client, sent, waits };
  }

  it.each(['/v1/chat/completions', '/v1/completions', '/tokenize'])(
    'C5: what is no JSON is a 400, never a 500: %s',
    async (path) => {
      const send = async (body: string, type = 'application/json', method = 'POST') => {
        const init = method === 'GET' ? { method } : { method, body };
        const headers = { ...key, ...(method === 'GET' ? {} : { 'content-type': type }) };
        const answer = await fetch(server.url + path, { ...init, headers });
        const { error } = (await answer.json()) as { error: { code: string } };
        return `${answer.status} ${error.code} ${answer.headers.get('allow') ?? ''}`.trim();
      };
      for (const text of [
        '{',
        '{"model": m3}',
        "{'model': 'm3'}",
        '{"model": "m3",}',
        'NaN',
        '\0',
      ]) {
        expect(await send(text), text).toBe('400 invalid_json');
      }
      for (const text of ['[]', '3', 'null', '"m3"']) {
        expect(await send(text), text).toBe('400 invalid_value');
      }
      expect(await send('')).toBe('400 empty_body');
      expect(await send('{}', 'text/plain')).toBe('415 unsupported_media_type');
      expect(await send('{}', 'application/x-www-form-urlencoded')).toBe(
        '415 unsupported_media_type',
      );
      expect(await send('', '', 'GET')).toBe('405 method_not_allowed POST');
      expect(await send('{}', 'application/json', 'PUT')).toBe('405 method_not_allowed POST');
    },
  );

  it.each([false, true])(
    'C42: the Responses API, which this release has not, is refused before any event (stream: %s)',
    async (stream) => {
      const { client, sent } = patientClient();
      const asked = client.responses.create({ model: 'm3', input: 'Hi', stream });
      await expect(asked).rejects.toBeInstanceOf(OpenAI.NotFoundError);
      await expect(asked).rejects.toMatchObject({
        code: 'unsupported_endpoint',
        message: expect.stringContaining('/v1/responses'),
      });
      expect(sent).toHaveLength(1);
      expect(server.engine.received).toEqual([]);
    },
  );

  it('C56: clients find status, code, type and field of an error', async () => {
    const { client } = patientClient();
    const wrong = client.chat.completions.create({ ...chat, temperature: 3 });
    await expect(wrong).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'temperature',
      type: 'invalid_request_error',
      message: expect.stringContaining('temperature'),
    });
    await expect(wrong).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const unknown = client.chat.completions.create({ ...chat, model: 'm4' });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'invalid_request_error',
    });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const locked = patientClient('wrong').client.models.list();
    await expect(locked).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await expect(locked).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it('C56: the AI SDK finds the message of an error, also in a stream', async () => {
    const provider = createOpenAICompatible({
      name: 'm3',
      baseURL: `${server.url}/v1`,
      apiKey: 'right',
    });
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }] }];
    await expect(
      provider.chatModel('m3').doGenerate({ prompt, temperature: 3 }),
    ).rejects.toMatchObject({
      statusCode: 400,
      isRetryable: false,
      message: expect.stringContaining('temperature'),
    });
    server.engine.scripts = [{ text: 'Hel', error: wire('ENGINE_STEP') }];
    const { stream } = await provider.chatModel('m3').doStream({ prompt });
    const parts = [];
    for await (const part of stream) parts.push(part);
    expect(parts.filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  it('C57: clients do not retry what stays wrong', async () => {
    const { client, sent } = patientClient();
    for (const wrong of [
      { ...chat, temperature: 3 },
      { ...chat, model: 'm4' },
    ]) {
      await expect(client.chat.completions.create(wrong)).rejects.toBeInstanceOf(OpenAI.APIError);
    }
    server.engine.submit = () => Promise.reject(new TypeError('a bug'));
    await expect(client.chat.completions.create(chat)).rejects.toMatchObject({ status: 500 });
    expect(sent).toHaveLength(3);
    const locked = patientClient('wrong');
    await expect(locked.client.models.list()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(locked.sent).toHaveLength(1);
  });

  it('C57: they come back to a busy server when it said so', async () => {
    const busy = { text: '', refusal: wire('ENGINE_CAPACITY', { reason: 'queue' }) };
    server.engine.scripts = [busy, busy, { text: 'now' }];
    const refused = await post(`${server.url}/v1/chat/completions`, chat, key);
    const seconds = Number(refused.headers.get('retry-after'));
    const ms = Number(refused.headers.get('retry-after-ms'));
    expect(Math.ceil(ms / 1000)).toBe(seconds);
    expect(seconds).toBeGreaterThanOrEqual(1);
    const { client, sent, waits } = patientClient();
    const answer = await client.chat.completions.create(chat);
    expect(answer.choices[0]?.message.content).toBe('now');
    expect(sent).toHaveLength(2);
    expect((sent[1] ?? 0) - (sent[0] ?? 0)).toBeGreaterThan((waits[0] ?? 0) - 5);
  });
});
