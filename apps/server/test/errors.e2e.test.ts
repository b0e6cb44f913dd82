import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

const chat = '/v1/chat/completions';
const text = '/v1/completions';
const messages = [{ role: 'user', content: 'Hi' }];

interface Refusal {
  readonly title: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly code: string;
  readonly param?: string | null;
}

const refusals: Refusal[] = [
  {
    title: 'an unknown model',
    path: chat,
    body: { model: 'gpt-4', messages },
    status: 404,
    code: 'model_not_found',
    param: 'model',
  },
  {
    title: 'no model',
    path: chat,
    body: { messages },
    status: 400,
    code: 'missing_required_parameter',
    param: 'model',
  },
  {
    title: 'no messages',
    path: chat,
    body: { model: 'T128' },
    status: 400,
    code: 'missing_required_parameter',
    param: 'messages',
  },
  {
    title: 'an empty list of messages',
    path: chat,
    body: { model: 'T128', messages: [] },
    status: 400,
    code: 'invalid_value',
    param: 'messages',
  },
  {
    title: 'an unknown role',
    path: chat,
    body: { model: 'T128', messages: [{ role: 'king', content: '' }] },
    status: 400,
    code: 'invalid_value',
    param: 'messages[0].role',
  },
  {
    title: 'an image',
    path: chat,
    body: {
      model: 'T128',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }],
    },
    status: 400,
    code: 'unsupported_content',
    param: 'messages[0].content[0]',
  },
  {
    title: 'a temperature that is text',
    path: chat,
    body: { model: 'T128', messages, temperature: 'hot' },
    status: 400,
    code: 'invalid_value',
    param: 'temperature',
  },
  {
    title: 'a temperature above 2',
    path: chat,
    body: { model: 'T128', messages, temperature: 2.5 },
    status: 400,
    code: 'invalid_value',
    param: 'temperature',
  },
  {
    title: 'top_p of 0',
    path: chat,
    body: { model: 'T128', messages, top_p: 0 },
    status: 400,
    code: 'invalid_value',
    param: 'top_p',
  },
  {
    title: 'no tokens to generate',
    path: chat,
    body: { model: 'T128', messages, max_tokens: 0 },
    status: 400,
    code: 'invalid_value',
    param: 'max_tokens',
  },
  {
    title: 'an empty stop string',
    path: chat,
    body: { model: 'T128', messages, stop: '' },
    status: 400,
    code: 'invalid_value',
    param: 'stop',
  },
  {
    title: 'top_logprobs without logprobs',
    path: chat,
    body: { model: 'T128', messages, top_logprobs: 2 },
    status: 400,
    code: 'invalid_value',
    param: 'top_logprobs',
  },
  {
    title: 'stream_options without stream',
    path: chat,
    body: { model: 'T128', messages, stream_options: { include_usage: true } },
    status: 400,
    code: 'invalid_value',
    param: 'stream_options',
  },
  {
    title: 'the deprecated functions',
    path: chat,
    body: { model: 'T128', messages, functions: [] },
    status: 400,
    code: 'unsupported_parameter',
    param: 'functions',
  },
  {
    title: 'a format that is none',
    path: chat,
    body: { model: 'T128', messages, response_format: { type: 'xml' } },
    status: 400,
    code: 'invalid_value',
    param: 'response_format.type',
  },
  {
    title: 'a reserved template argument',
    path: chat,
    body: { model: 'T128', messages, chat_template_kwargs: { messages: 1 } },
    status: 400,
    code: 'invalid_value',
    param: 'chat_template_kwargs.messages',
  },
  {
    title: 'an over-long prompt',
    path: text,
    body: { model: 'T128', prompt: 'x'.repeat(5000) },
    status: 400,
    code: 'context_length_exceeded',
  },
  {
    title: 'an empty prompt',
    path: text,
    body: { model: 'T128', prompt: '' },
    status: 400,
    code: 'invalid_value',
    param: 'prompt',
  },
  {
    title: 'a token id outside the vocabulary',
    path: text,
    body: { model: 'T128', prompt: [512] },
    status: 400,
    code: 'invalid_value',
    param: 'prompt',
  },
  {
    title: 'a suffix',
    path: text,
    body: { model: 'T128', prompt: 'a', suffix: 'b' },
    status: 400,
    code: 'unsupported_parameter',
    param: 'suffix',
  },
  {
    title: 'a body that is a list',
    path: text,
    body: [],
    status: 400,
    code: 'invalid_value',
    param: null,
  },
];

describe('refused requests', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128');
    server = await startTestServer(folder.path, { apiKey: 'secret' });
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  async function post(path: string, body: string, headers: Record<string, string> = {}) {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret', ...headers },
      body,
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { error: Record<string, unknown> },
    };
  }

  it.each(refusals)('answers $title with $status $code', async ({ path, body, ...expected }) => {
    const answer = await post(path, JSON.stringify(body));
    expect(answer.status).toBe(expected.status);
    expect(answer.body.error).toMatchObject({ code: expected.code, message: expect.any(String) });
    if (expected.param !== undefined) expect(answer.body.error['param']).toBe(expected.param);
  });

  it('counts what the template shows of tools before it is tokenized', async () => {
    const tool = { type: 'function', function: { name: 'f', description: 'x'.repeat(100_000) } };
    const answer = await post(chat, JSON.stringify({ model: 'T128', messages, tools: [tool] }));
    expect([answer.status, answer.body.error['code']]).toEqual([400, 'context_length_exceeded']);
    expect(answer.body.error['message']).toMatch(/has 10\d{4} bytes; the context of 4096 tokens/);
  });

  it('answers a body that is no JSON', async () => {
    const answer = await post(chat, '{"model": ');
    expect([answer.status, answer.body.error['code']]).toEqual([400, 'invalid_json']);
  });

  it('answers an empty body', async () => {
    const answer = await post(chat, '');
    expect([answer.status, answer.body.error['code']]).toEqual([400, 'empty_body']);
  });

  it('answers a body of another type', async () => {
    const answer = await post(chat, 'hello', { 'content-type': 'text/plain' });
    expect([answer.status, answer.body.error['code']]).toEqual([415, 'unsupported_media_type']);
  });

  it('answers a body that is too large', async () => {
    const answer = await post(chat, JSON.stringify({ model: 'T128', pad: 'x'.repeat(1 << 20) }));
    expect([answer.status, answer.body.error['code']]).toEqual([413, 'request_too_large']);
  });

  it('does not let a prototype be polluted', async () => {
    const answer = await post(chat, '{"__proto__": {"x": 1}, "model": "T128"}');
    expect(answer.status).toBe(400);
  });

  it('answers unknown paths and wrong methods', async () => {
    const headers = { authorization: 'Bearer secret' };
    const unknown = await fetch(`${server.url}/v1/nothing`, { headers });
    expect([
      unknown.status,
      ((await unknown.json()) as { error: { code: string } }).error.code,
    ]).toEqual([404, 'unknown_url']);
    const wrong = await fetch(server.url + chat, { headers });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('wants a key on every route but health', async () => {
    for (const path of ['/v1/models', '/metrics', '/server_info']) {
      const answer = await fetch(server.url + path);
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Bearer',
      ]);
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  it('still serves after all of that', async () => {
    const answer = await server.client.completions.create({
      model: 'T128',
      prompt: 'a',
      max_tokens: 2,
      temperature: 0,
    });
    expect(answer.usage?.completion_tokens).toBe(2);
  });
});
