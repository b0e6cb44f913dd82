import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from './makers/scripted-server.js';
import { waitFor } from './makers/wait-for.js';

const chat = '/v1/chat/completions';
const messages = [{ role: 'user', content: 'Hi' }];

describe('requests that cannot be served', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted({ maxBodyBytes: 2 ** 25 });
  });
  afterEach(() => server.close());

  async function post(path: string, body: unknown) {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as { error: Record<'message' | 'code' | 'param', string> },
    };
  }

  it.each([
    [chat, 'messages', { messages: [{ role: 'user', content: 'a'.repeat(2e7) }] }],
    [
      chat,
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'é'.repeat(1e7) }] }] },
    ],
    ['/v1/completions', 'prompt', { prompt: ['b', 'a'.repeat(2e7)] }],
  ])('a text that cannot fit is refused untokenized: %s %s', async (path, param, more) => {
    const { status, body } = await post(path, { model: 'm3', ...more });
    expect([status, body]).toMatchObject([
      400,
      {
        error: {
          code: 'context_length_exceeded',
          param,
          message: expect.stringMatching(/200000\d\d? bytes|20000000 bytes/),
        },
      },
    ]);
    expect(body.error.message).toMatch(/context of 100000 tokens/);
    expect(server.text.jobs).toBeLessThan(2);
  });

  it.each([
    [chat, 'n', { messages, n: 16 }],
    ['/v1/completions', 'prompt', { prompt: new Array(11).fill('a') }],
    ['/v1/completions', 'n', { prompt: ['a', 'b'], n: 6 }],
  ])('more choices than ever run and wait: %s %s', async (path, param, more) => {
    Object.assign(server.context.info ?? {}, {
      ...{ maxSequences: 2, maxWaiting: 8 },
      maxTenantRequests: 10,
    });
    const { status, headers, body } = await post(path, { model: 'm3', ...more });
    expect([status, headers.get('retry-after')]).toEqual([400, null]);
    expect(body.error).toMatchObject({ code: 'invalid_value', param });
    expect(body.error.message).toMatch(/1[126] choices at once, but 2 run and 8 wait at most/);
    expect(server.engine.received).toHaveLength(0);
  });

  it('more choices than a tenant may ever have under way', async () => {
    Object.assign(server.context.info ?? {}, { maxTenantRequests: 3 });
    const { status, body } = await post(chat, { model: 'm3', messages, n: 4 });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'n']);
    expect(body.error.message).toMatch(/4 choices at once, but a tenant has 3 .*kv-share$/);
    expect((await post(chat, { model: 'm3', messages, n: 3 })).status).toBe(200);
  });

  it('a stop token outside the vocabulary', async () => {
    const { status, body } = await post(chat, { model: 'm3', messages, stop_token_ids: [1, 600] });
    expect([status, body.error.param]).toEqual([400, 'stop_token_ids[1]']);
    expect(body.error.message).toMatch(/600 is outside the vocabulary of 600/);
  });

  it.each([
    ['{"model": x}', 'Unexpected token \'x\', "{"model": x}" at position 10'],
    ['{"model": ', 'Unexpected end of JSON input at position 10'],
    ['{"a":-1.5,"b":[1,2,}', 'Unexpected token \'}\', "{"a":-1.5,"b":[1,2,}" at position 19'],
    ['{', "Expected property name or '}' at position 1"],
  ])('%s is no JSON', async (text, problem) => {
    const { status, body } = await post(chat, text);
    expect([status, body.error.code]).toEqual([400, 'invalid_json']);
    expect(body.error.message).toBe(`the body is not valid JSON: ${problem}`);
  });

  it('a key of prototypes', async () => {
    const { status, body } = await post(chat, '{"__proto__": {"x": 1}, "model": "m3"}');
    expect([status, body.error.message]).toEqual([400, 'the key __proto__ is not allowed']);
  });

  it.each(['/%zz', '/v1/models/%ff'])('a URL that cannot be read: %s', async (path) => {
    const answer = await fetch(server.url + path, { headers: { 'x-request-id': 'mine' } });
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([400, 'mine']);
    expect(await answer.json()).toMatchObject({
      error: { code: 'invalid_url', type: 'invalid_request_error', param: null },
    });
  });

  it('a long name of a model', async () => {
    const answer = await fetch(`${server.url}/v1/models/${'a'.repeat(1000)}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { code: 'model_not_found' } },
    ]);
  });

  it.each(['/health', '/metrics', '/v1/models/m3'])('POST %s', async (path) => {
    const { status, headers } = await post(path, {});
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  });

  it.each([false, true])(
    'a request behind one that ends the connection (late: %s)',
    async (isLate) => {
      server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
      const gate = makeGate();
      if (isLate) server.text.until = gate.opened;
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      const head = `POST ${chat} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: `;
      const body = JSON.stringify({ model: 'm3', messages });
      let received = '';
      socket.on('data', (chunk) => {
        received += String(chunk);
      });
      socket.write(`${head}1\r\n\r\n{${head}${body.length}\r\n\r\n${body}`);
      await waitFor(() => socket.destroyed);
      expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400']);
      await waitFor(() => server.context.active.size === 0);
      gate.open();
      await waitFor(() => server.engine.received.every(({ isAborted }) => isAborted));
      const outcomes = () =>
        server.log.filter(({ msg }) => msg === 'request').map((line) => line['outcome']);
      await waitFor(() => outcomes().includes('abort'));
      // The one before it, of which the body is no JSON.
      expect(outcomes().filter((outcome) => outcome !== 'abort')).toEqual(['refused']);
    },
  );

  it('requests behind an answer that is under way end with their socket', async () => {
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const { hostname, port } = new URL(server.url);
    const body = JSON.stringify({ model: 'm3', messages });
    const one = `POST ${chat} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(Number(port), hostname);
    socket.write(one.repeat(15));
    await waitFor(() => server.engine.received.length === 15);
    socket.destroy();
    await waitFor(() => server.context.active.size === 0);
    await waitFor(() => server.engine.received.every(({ isAborted }) => isAborted));
  });
});
