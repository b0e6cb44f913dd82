import { once } from 'node:events';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';
import { type MockServer, startMock } from './makers/mock-server.js';
import { postRaw } from './makers/raw-client.js';
import { dataOf, messages, post } from './makers/requests.js';

const body = { model: 'mock', prompt: 'abcdefg', max_tokens: 60, stream: true, ignore_eos: true };

describe('a server that ends', () => {
  const started: MockServer[] = [];
  afterEach(() => {
    for (const server of started.splice(0)) server.dispose();
  });

  async function start(...flags: readonly string[]): Promise<MockServer> {
    const server = await startMock({ decodeMs: 10 }, ...flags);
    started.push(server);
    return server;
  }
  const textOf = (stream: string): string =>
    dataOf(stream)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data).choices[0]?.text ?? '')
      .join('');

  it('C26: lets what runs end in time, and takes nothing new', async () => {
    const server = await start();
    const exited = once(server.child, 'exit');
    const stream = await post(`${server.url}/v1/completions`, body);
    const late = postRaw(server.url, '/v1/completions', body);
    await waitFor(() => late.received().includes('data: '));
    server.child.kill('SIGTERM');
    await waitFor(
      async () => (await fetch(`${server.url}/health`).catch(() => undefined))?.status !== 200,
    );
    expect(dataOf(await stream.text()).at(-1)).toBe('[DONE]');
    const refused = await post(`${server.url}/v1/completions`, body).catch(() => undefined);
    if (refused) {
      expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    }
    expect(await late.ended()).toContain('data: [DONE]');
    await exited;
    expect(server.child.exitCode).toBe(0);
  });

  it('C26: ends what takes too long with a frame, and ends with 0', async () => {
    const server = await start('--shutdown-timeout', '1');
    const exited = once(server.child, 'exit');
    const stream = await post(`${server.url}/v1/completions`, { ...body, max_tokens: 4000 });
    server.child.kill('SIGTERM');
    const frames = dataOf(await stream.text());
    expect(JSON.parse(frames.at(-1) ?? '')).toMatchObject({ error: { code: 'shutting_down' } });
    expect(frames.length).toBeGreaterThan(10);
    await exited;
    expect(server.child.exitCode).toBe(0);
  });

  it('C26: ends at once at the second signal', async () => {
    const server = await start();
    const exited = once(server.child, 'exit');
    const stream = await post(`${server.url}/v1/completions`, { ...body, max_tokens: 4000 });
    const cut = stream.text().catch(() => 'cut');
    server.child.kill('SIGTERM');
    // Two signals that come together are one.
    await waitFor(
      async () => (await fetch(`${server.url}/health`).catch(() => undefined))?.status !== 200,
    );
    server.child.kill('SIGTERM');
    await exited;
    expect(server.child.exitCode).toBe(1);
    await cut;
  });

  it('C27: delivers every token while it drains', async () => {
    const server = await start();
    const whole = textOf(await (await post(`${server.url}/v1/completions`, body)).text());
    expect(whole.length).toBeGreaterThanOrEqual(60);
    const stream = await post(`${server.url}/v1/completions`, body);
    server.child.kill('SIGTERM');
    const answer = await stream.text();
    expect(textOf(answer)).toBe(whole);
    expect(dataOf(answer).at(-1)).toBe('[DONE]');
  });
});

describe('a stream that is silent', () => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  it('C28: has comments before the first token, which clients skip', async () => {
    server = await startScripted({ keepAliveMs: 20 });
    const gate = makeGate();
    server.engine.scripts = [
      { text: 'late', until: gate.opened },
      { text: 'late', waitMs: 150 },
    ];
    const chat = { model: 'm3', messages, stream: true } as const;
    const answer = await post(`${server.url}/v1/chat/completions`, chat);
    let raw = '';
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      raw += piece;
      if (raw.split(': keep-alive').length > 2) gate.open();
    }
    const [, opening = ''] = raw.split('data: ');
    expect(opening).toMatch(/^[^\n]*"role":"assistant"[^\n]*\n\n(: keep-alive\n\n){2,}$/);
    let text = '';
    for await (const { choices } of await server.client.chat.completions.create(chat)) {
      text += choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('late');
    const provider = createOpenAICompatible({ name: 'm3', baseURL: `${server.url}/v1` });
    const { stream } = await provider.chatModel('m3').doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
    const types = new Set<string>();
    for await (const part of stream) types.add(part.type);
    expect(types).toContain('text-delta');
    expect(types).not.toContain('error');
  });
});
