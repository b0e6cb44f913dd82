import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeGate, type ScriptedServer, startScripted } from '../makers/scripted-server.js';
import { waitFor } from '../makers/wait-for.js';

describe('routes to watch a server', () => {
  let server: ScriptedServer;

  beforeEach(async () => {
    server = await startScripted({ watchdogSeconds: 1 });
  });
  afterEach(() => server.close());

  async function get(path: string) {
    const answer = await fetch(server.url + path);
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  }

  function ask(): Promise<Response> {
    return fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', prompt: 'Hi', max_tokens: 5 }),
    });
  }

  it('tell how busy the engine is', async () => {
    server.engine.state = 'ready';
    const { status, body } = await get('/v1/loads?include=memory,queues');
    expect(status).toBe(200);
    expect(body['loads']).toEqual([
      {
        dp_rank: 0,
        num_running_reqs: 0,
        num_waiting_reqs: 0,
        num_used_tokens: 0,
        max_total_num_tokens: 16,
        token_usage: 0,
        gen_throughput: 0,
        cache_hit_rate: 0,
        utilization: 0,
        max_running_requests: 8,
        memory: { weight_gb: 0, kv_cache_gb: 0, graph_gb: 0, token_capacity: 16 },
        queues: { waiting: 0, grammar: 0, paused: 0, retracted: 0 },
      },
    ]);
    await (await ask()).text();
    const later = (await get('/v1/loads')).body as { loads?: { gen_throughput: number }[] };
    expect(later.loads?.[0]?.gen_throughput).toBeGreaterThan(0);
    expect(later.loads?.[0]).not.toHaveProperty('memory');
    expect((await get('/v1/loads?include=cpu')).body['error']).toMatchObject({ param: 'include' });
  });

  it('tell whether requests get tokens', async () => {
    const stall_threshold_seconds = 1;
    expect(await get('/health/decode')).toEqual({
      status: 200,
      body: { status: 'idle', running: 0, last_token_age_seconds: null, stall_threshold_seconds },
    });
    const gate = makeGate();
    server.engine.scripts = [{ text: 'Hello', until: gate.opened }];
    const answer = ask();
    await waitFor(() => server.engine.activity.open > 0);
    const busy = await get('/health/decode');
    expect(busy).toMatchObject({ status: 200, body: { status: 'ok', running: 1 } });
    await waitFor(async () => (await get('/health/decode')).status !== 200);
    const stalled = await get('/health/decode');
    expect(stalled).toMatchObject({ status: 503, body: { status: 'stalled', running: 1 } });
    expect(stalled.body['last_token_age_seconds']).toBeGreaterThan(1);
    gate.open();
    expect((await answer).status).toBe(200);
    expect((await get('/health/decode')).body['status']).toBe('idle');
  });

  it('tell that an engine hangs, however busy it was (C23)', async () => {
    expect((await get('/livez')).status).toBe(200);
    server.engine.heartbeatAge = 2;
    expect(await get('/livez')).toEqual({ status: 503, body: { status: 'engine_dead' } });
    expect((await get('/health')).status).toBe(503);
  });

  it('tell what is served', async () => {
    expect((await get('/model_info')).body).toMatchObject({
      model_path: null,
      served_model_names: ['m3'],
      is_generation: true,
      max_model_len: 100_000,
    });
  });

  it.each([
    ['/v1/embeddings', 'unsupported_endpoint'],
    ['/v1/audio/speech', 'unsupported_endpoint'],
    ['/rerank', 'unsupported_endpoint'],
    ['/v2/rerank', 'unsupported_endpoint'],
    ['/invocations', 'unsupported_endpoint'],
    ['/api/chat', 'unsupported_endpoint'],
    ['/v1/embeddingsx', 'unknown_url'],
    ['/v1/chat/completion', 'unknown_url'],
  ])('POST %s is 404 %s', async (path, code) => {
    const answer = await fetch(server.url + path, { method: 'POST' });
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code } }]);
  });
});
