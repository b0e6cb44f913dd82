import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from '../makers/scripted-server.js';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const late = (stage: string) => ({
  name: 'DeadlineError',
  code: 'ENGINE_DEADLINE',
  message: 'too late',
  facts: { stage },
});

describe('requests whose time is over', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted({ requestTimeoutMs: 60_000, tenantHeader: 'x-tenant' });
  });
  afterEach(async () => {
    await server.close();
  });

  const post = (stream: boolean, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'm3', messages, stream, priority: 3 }),
    });

  it.each([
    ['queue', false, 503, 'queue_timeout'],
    ['queue', true, 503, 'queue_timeout'],
    ['request', false, 504, 'deadline_exceeded'],
    ['request', true, 504, 'deadline_exceeded'],
  ])('%s, before a token, stream %s: status %i', async (stage, stream, status, code) => {
    server.engine.scripts = [{ text: '', error: late(stage) }];
    const response = await post(stream);
    expect(response.status).toBe(status);
    expect(response.headers.has('retry-after')).toBe(stage === 'queue');
    expect(await response.json()).toMatchObject({ error: { code, message: 'too late' } });
  });

  it('after a token of a stream: an error frame, and no [DONE]', async () => {
    server.engine.scripts = [{ text: 'Hello', error: late('request') }];
    const response = await post(true);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(/data: \{"error":\{[^}]*"code":"deadline_exceeded"[^}]*\}\}\n\n$/);
  });

  it('tell the engine the time, the tenant and the priority', async () => {
    await (await post(false, { 'x-tenant': 'blue', 'x-request-timeout-ms': '900' })).json();
    const { parameters } = server.engine.received[0] ?? {};
    expect(parameters).toMatchObject({ priority: 3, tenant: expect.stringMatching(/ blue$/) });
    expect(parameters?.timeoutMs).toBeLessThanOrEqual(900);
    expect(parameters?.timeoutMs).toBeGreaterThan(0);
    expect((await post(false, { 'x-request-timeout-ms': 'soon' })).status).toBe(400);
  });
});
