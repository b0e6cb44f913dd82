import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';

const wireError = (code: string, facts: Record<string, unknown> = {}) => ({
  name: 'Error',
  code,
  message: `planted ${code}`,
  facts,
});
const messages = [{ role: 'user' as const, content: 'Hi' }];

describe('the life of a request', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted();
  });
  afterEach(() => server.close());

  function send(body: object, path = '/v1/chat/completions'): Socket {
    const { hostname, port } = new URL(server.url);
    const text = JSON.stringify({ model: 'm3', messages, ...body });
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    return socket;
  }
  const post = (path: string, body: object) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', ...body }),
    });
  const outcomes = () =>
    server.log.filter(({ msg }) => msg === 'request').map(({ outcome, code }) => code ?? outcome);

  it('a client that leaves while its prompt is prepared never reaches the engine', async () => {
    const gate = makeGate();
    server.text.until = gate.opened;
    const socket = send({});
    await waitFor(() => server.context.active.size === 1);
    socket.destroy();
    await waitFor(() => server.context.active.size === 0);
    gate.open();
    await waitFor(() => outcomes().length === 1);
    expect(server.engine.received).toHaveLength(0);
    expect(outcomes()).toEqual(['abort']);
    expect(await server.context.metrics.exposition()).toMatch(
      /http_requests_total\{handler="\/v1\/chat\/completions",method="POST",status="499"\} 1/,
    );
  });

  it.each([true, false])('a client that leaves ends its request (stream: %s)', async (stream) => {
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const socket = send({ stream, n: 2 });
    await waitFor(() => server.engine.received.length === 2);
    socket.destroy();
    await waitFor(() => server.engine.received.every(({ isAborted }) => isAborted));
    await waitFor(() => outcomes().length === 1);
    expect(outcomes()).toEqual(['abort']);
  });

  it('a choice that is refused gives the others up and answers with the reason', async () => {
    server.engine.scripts = [
      { text: 'on and on ', reason: 'never' },
      { text: '', refusal: wireError('ENGINE_CAPACITY', { reason: 'queue' }) },
      { text: 'on and on ', reason: 'never' },
    ];
    const answer = await post('/v1/chat/completions', { messages, n: 3, stream: true });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([
      503,
      expect.stringMatching(/^\d$/),
    ]);
    expect(await answer.json()).toMatchObject({ error: { code: 'overloaded' } });
    expect(server.engine.received.map(({ isAborted }) => isAborted)).toEqual([true, true]);
    expect(outcomes()).toEqual(['overloaded']);
  });

  it.each([
    ['ENGINE_DEAD', 503, 'engine_dead'],
    ['ENGINE_CLOSED', 503, 'shutting_down'],
    ['ENGINE_STEP', 500, 'internal_error'],
  ])(
    'an engine that fails with %s answers %i, or with a last frame',
    async (code, status, slug) => {
      server.engine.scripts = [{ text: 'Hel', error: wireError(code) }];
      const whole = await post('/v1/chat/completions', { messages });
      expect(whole.status).toBe(status);
      expect(await whole.json()).toMatchObject({ error: { code: slug } });
      const streamed = await post('/v1/completions', { prompt: 'a', stream: true });
      const frames = (await streamed.text()).trim().split('\n\n');
      expect(streamed.status).toBe(200);
      expect(JSON.parse(frames.at(-1)?.replace(/^data: /, '') ?? '')).toMatchObject({
        error: { code: slug },
      });
      const stream = await server.client.chat.completions.create({
        model: 'm3',
        messages,
        stream: true,
      });
      const read = async (): Promise<void> => {
        for await (const _ of stream);
      };
      await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    },
  );

  it('cuts off a client that does not read, and keeps memory bounded', async () => {
    server.engine.scripts = [{ text: 'x'.repeat(400), reason: 'never' }];
    const socket = send({ stream: true });
    socket.pause();
    await waitFor(() => server.log.some(({ msg }) => /slow_client/.test(String(msg))));
    const [line] = server.log.filter(({ msg }) => /slow_client/.test(String(msg)));
    expect(line?.['pendingBytes']).toBeLessThan(2 ** 21);
    await waitFor(() => server.engine.received.every(({ isAborted }) => isAborted));
    socket.destroy();
  });

  it('writes comments on a silent stream, which clients skip', async () => {
    await server.close();
    server = await startScripted({ keepAliveMs: 10 });
    const gate = makeGate();
    server.engine.scripts = [
      { text: 'late', until: gate.opened },
      { text: 'late', waitMs: 60 },
    ];
    const answer = await post('/v1/completions', { prompt: 'a', stream: true });
    let raw = '';
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      raw += piece;
      if (raw.includes(': keep-alive')) gate.open();
    }
    expect(raw).toMatch(/^: keep-alive\n\n[\s\S]*data: \[DONE\]\n\n$/);
    const stream = await server.client.completions.create({
      model: 'm3',
      prompt: 'a',
      stream: true,
    });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.text ?? '';
    expect(text).toBe('late');
  });

  it('tells how far a wish for tokens was clamped', async () => {
    const prompt = new Array(99_990).fill(70);
    server.engine.scripts = [{ text: 'abc', reason: 'never' }];
    const answer = await post('/v1/completions', { prompt, max_tokens: 500 });
    expect(answer.headers.get('x-max-tokens-clamped')).toBe('10');
    expect(await answer.json()).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 10 },
    });
    const fits = await post('/v1/completions', { prompt: [70], max_tokens: 5 });
    expect(fits.headers.get('x-max-tokens-clamped')).toBeNull();
  });

  it('refuses a prompt that fills the context, with both numbers', async () => {
    const answer = await post('/v1/completions', { prompt: new Array(100_000).fill(70) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'context_length_exceeded',
        param: 'prompt',
        message: expect.stringMatching(/100000 tokens, the context 100000/),
      },
    });
  });

  it('stops each choice at its own stop string', async () => {
    server.engine.scripts = [
      { text: 'one STOP two', reason: 'never' },
      { text: 'three four STO', reason: 'stop' },
    ];
    const answer = await server.client.completions.create({
      model: 'm3',
      prompt: 'a',
      n: 2,
      stop: ['STOP'],
      max_tokens: 100,
    });
    expect(answer.choices).toMatchObject([
      { index: 0, text: 'one ', finish_reason: 'stop', stop_reason: 'STOP' },
      { index: 1, text: 'three four STO', finish_reason: 'stop', stop_reason: null },
    ]);
  });

  it('looks for stop strings only after the least number of tokens', async () => {
    server.engine.scripts = [{ text: '0.1.2.3.4.5', reason: 'never' }];
    const least = { min_tokens: 4, max_tokens: 100 };
    const { choices } = await server.client.completions.create({
      model: 'm3',
      prompt: 'a',
      stop: '.',
      ...least,
    });
    expect(choices[0]?.text).toBe('0.1.2');
    const wrong = await post('/v1/completions', { prompt: 'a', min_tokens: 9, max_tokens: 3 });
    expect(wrong.status).toBe(400);
  });

  it('refuses new requests while it drains, and ends the connection', async () => {
    server.context.isDraining = true;
    const answer = await post('/v1/chat/completions', { messages });
    expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
    expect(await answer.json()).toMatchObject({ error: { code: 'shutting_down' } });
    expect((await fetch(`${server.url}/health`)).status).toBe(503);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });

  it('refuses bodies that are deeper than any honest one (S4)', async () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const answer = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"model":"m3","messages":[{"role":"user","content":"a"}],"tools":${deep}}`,
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: expect.stringMatching(/more than 128 levels/) } },
    ]);
  });

  it('answers what is no HTTP with OpenAI’s error body', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write('GARBAGE\r\n\r\n');
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 400 Bad Request[\s\S]*"code":"invalid_http"/);
  });
});
