import { afterEach, describe, expect, it } from 'vitest';
import { type ScriptedServer, startScripted } from './makers/scripted-server.js';

const number = expect.any(Number);
const timings = {
  cache_n: 0,
  prompt_n: number,
  prompt_ms: number,
  prompt_per_second: number,
  predicted_n: 11,
  predicted_ms: number,
  predicted_per_second: number,
};
const metrics = {
  ttft_ms: number,
  generation_time_ms: number,
  mean_itl_ms: number,
  tokens_per_second: number,
};
const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/completions': { prompt: 'Hi', max_tokens: 99 },
};

describe.each(Object.entries(bodies))('measurements of %s', (path, body) => {
  let server: ScriptedServer;
  afterEach(() => server.close());

  async function post(more: object): Promise<string> {
    server.engine.scripts = [{ text: 'Hello, world' }];
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm3', ...body, ...more }),
    });
    return answer.text();
  }
  const frames = (text: string): Record<string, unknown>[] =>
    text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>);

  it('come when the request wants them, whole and in the last chunk', async () => {
    server = await startScripted();
    expect(JSON.parse(await post({ timings_per_token: true }))).toMatchObject({ timings });
    const plain = JSON.parse(await post({})) as object;
    expect(plain).not.toHaveProperty('timings');
    expect(plain).not.toHaveProperty('metrics');
    const chunks = frames(await post({ stream: true, timings_per_token: true }));
    expect(chunks.filter((chunk) => 'timings' in chunk)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], timings });
    expect(chunks.at(-1)).not.toHaveProperty('usage');
    expect(frames(await post({ stream: true })).every(({ choices }) => `${choices}`)).toBe(true);
  });

  it('come always when the server is told so, beside the usage', async () => {
    server = await startScripted({ measureRequests: true });
    expect(JSON.parse(await post({}))).toMatchObject({ metrics, timings });
    const wish = { stream: true, stream_options: { include_usage: true } };
    const last = frames(await post(wish)).at(-1);
    expect(last).toMatchObject({ choices: [], usage: { completion_tokens: 11 }, metrics, timings });
  });

  it('are in the log line of the request', async () => {
    server = await startScripted();
    await post({});
    const line = server.log.find(({ msg }) => msg === 'request');
    expect(line).toMatchObject({ generatedTokens: 11, ttftMs: number, tokensPerSecond: number });
  });
});
