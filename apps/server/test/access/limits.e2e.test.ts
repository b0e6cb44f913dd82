import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { TokenBudget } from '../../src/http/access/token-budget.js';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';

describe('limits', () => {
  let server: ScriptedServer;
  afterEach(() => server?.close());

  const ask = async (key: string, more: object = {}) => {
    const answer = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'm3', prompt: 'Hi', ...more }),
    });
    const { error } = (await answer.json()) as { error?: { code: string; type: string } };
    return { status: answer.status, headers: answer.headers, error };
  };

  it('of requests a minute are of each key (S25)', async () => {
    server = await startScripted({ apiKeys: ['one', 'two'], requestsPerMinute: 2 });
    const first = await ask('one');
    expect([first.status, first.headers.get('x-ratelimit-remaining')]).toEqual([200, '1']);
    expect((await ask('one')).status).toBe(200);
    const third = await ask('one');
    expect([third.status, third.error]).toMatchObject([
      429,
      { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    ]);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(Number(third.headers.get('retry-after-ms'))).toBeGreaterThan(50_000);
    expect((await ask('two')).status).toBe(200);
    const watch = await fetch(`${server.url}/v1/models`, {
      headers: { authorization: 'Bearer one' },
    });
    expect(watch.status).toBe(200);
  });

  it('of tokens a minute count prompt and answer', async () => {
    server = await startScripted({ apiKeys: ['one', 'two'], tokensPerMinute: 6 });
    server.engine.scripts = [{ text: 'Hello' }];
    expect((await ask('one')).status).toBe(200);
    const second = await ask('one');
    expect([second.status, second.error?.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(10);
    expect((await ask('two')).status).toBe(200);
  });

  it('of tokens grow back', () => {
    let ms = 0;
    const budget = new TokenBudget(60, () => ms);
    budget.charge('a', 65);
    expect(() => budget.check('a')).toThrow(/60 tokens a minute/);
    ms = 4999;
    expect(() => budget.check('a')).toThrow();
    ms = 5001;
    budget.check('a');
    ms += 3_600_000;
    budget.charge('a', 59);
    budget.check('a');
    budget.charge('a', 1);
    expect(() => budget.check('a')).toThrow();
  });

  it('of connections close what comes above them (S18)', async () => {
    server = await startScripted({ maxConnections: 2 });
    const connections = () =>
      new Promise<number>((resolve, reject) => {
        server.app.server.getConnections((error, count) =>
          error ? reject(error) : resolve(count),
        );
      });
    const { hostname, port } = new URL(server.url);
    const open = [1, 2].map(() => connect(Number(port), hostname));
    for (const socket of open) await new Promise((resolve) => socket.once('connect', resolve));
    await waitFor(async () => (await connections()) === 2);
    const third = connect(Number(port), hostname).on('error', () => undefined);
    await new Promise((resolve) => third.once('close', resolve));
    for (const socket of open) socket.destroy();
    await waitFor(async () => (await connections()) === 0);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(/altstream_connections_refused_total 1\n/);
  });

  it('of times for headers and bodies are set, and a client beyond them is told so (S18)', async () => {
    server = await startScripted({ maxBodyBytes: 32 * 2 ** 20 });
    const http = server.app.server;
    expect([http.headersTimeout, http.requestTimeout]).toEqual([60_000, 92_000]);
    const accepted = once(http, 'connection') as Promise<[Socket]>;
    const { hostname, port } = new URL(server.url);
    const client = connect(Number(port), hostname);
    client.write('POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ');
    let received = '';
    client.on('data', (chunk) => {
      received += String(chunk);
    });
    const [socket] = await accepted;
    // Node looks at its connections every 30 seconds; this is what it does then.
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    http.emit('clientError', late, socket);
    await once(client, 'end');
    client.destroy();
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(JSON.parse(received.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error: { code: 'request_timeout', param: null },
    });
  });

  it('tell gateways in the status that they retry', async () => {
    server = await startScripted({ overloadStatus: 429 });
    server.engine.scripts = [
      {
        text: '',
        refusal: {
          name: 'E',
          code: 'ENGINE_CAPACITY',
          message: 'full',
          facts: { reason: 'queue' },
        },
      },
    ];
    const { status, headers, error } = await ask('');
    expect([status, error?.code]).toEqual([429, 'overloaded']);
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });
});
