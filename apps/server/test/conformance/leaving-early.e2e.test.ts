import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';
import { postRaw } from './makers/raw-client.js';
import { messages, post } from './makers/requests.js';

const path = '/v1/chat/completions';

describe('how requests end', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted();
  });
  afterEach(() => server.close());

  const lines = () => server.log.filter(({ msg }) => msg === 'request');

  it('C2: a client that leaves while its prompt is tokenized never reaches the engine', async () => {
    const gate = makeGate();
    server.text.until = gate.opened;
    const { socket } = postRaw(server.url, path, { model: 'm3', messages });
    await waitFor(() => server.text.jobs === 1);
    socket.destroy();
    await waitFor(() => server.context.active.size === 0);
    gate.open();
    await waitFor(() => lines().length === 1);
    expect(server.engine.received).toEqual([]);
    expect(server.context.active.size).toBe(0);
  });

  it('C54: a client that gives a stream up, or a whole answer, ends it for the engine', async () => {
    server.engine.scripts = [{ text: 'on and on ', reason: 'never' }];
    const { completions } = server.client.chat;
    const stream = await completions.create({ model: 'm3', messages, stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    const stop = new AbortController();
    const whole = completions.create({ model: 'm3', messages }, { signal: stop.signal });
    await waitFor(() => server.engine.received.length === 2);
    stop.abort();
    await expect(whole).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await waitFor(() => server.engine.received.every(({ isAborted }) => isAborted));
  });

  it('C55: every request leaves one line with its end, whatever that is, and no text of it', async () => {
    const secret = 'do not write this down';
    const body = { model: 'm3', messages: [{ role: 'user', content: secret }] };
    server.engine.scripts = [
      { text: secret },
      { text: secret, reason: 'length' },
      { text: '', error: { name: 'StepError', code: 'ENGINE_STEP', message: 'broken', facts: {} } },
      { text: secret, reason: 'never' },
    ];
    for (const more of [{}, {}, {}])
      await (await post(server.url + path, { ...body, ...more })).text();
    const { socket } = postRaw(server.url, path, body);
    await waitFor(() => server.engine.received.length === 4);
    socket.destroy();
    await waitFor(() => lines().length === 4);
    const refused = [
      { ...body, temperature: 9 },
      { ...body, model: 'm4' },
    ];
    for (const one of refused) expect((await post(server.url + path, one)).ok).toBe(false);
    await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: secret,
    });
    await waitFor(() => lines().length === 7);
    expect(lines().map(({ outcome, code }) => [outcome, code])).toEqual([
      ['stop', undefined],
      ['length', undefined],
      ['error', 'internal_error'],
      ['abort', undefined],
      ['refused', 'invalid_value'],
      ['refused', 'model_not_found'],
      ['refused', 'unsupported_media_type'],
    ]);
    expect(new Set(lines().map(({ request }) => request)).size).toBe(7);
    expect(JSON.stringify(server.log)).not.toContain(secret);
  });
});
