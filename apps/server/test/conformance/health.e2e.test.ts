import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '../makers/wait-for.js';
import { type MockServer, startMock } from './makers/mock-server.js';
import { dataOf, post } from './makers/requests.js';

const preload = new URL('../makers/kill-engine-on-signal.mjs', import.meta.url).href;
const hangs = (ms: number) => ({ decodeMs: 2, faults: [{ kind: 'slow', at: 5, ms }] });

describe('health', () => {
  const started: MockServer[] = [];
  afterEach(() => {
    for (const server of started.splice(0)) server.dispose();
  });

  async function start(mock: object, ...flags: readonly string[]): Promise<MockServer> {
    const server = await startMock(mock, ...flags);
    started.push(server);
    return server;
  }
  async function get({ url }: MockServer, path: string) {
    const begin = performance.now();
    const answer = await fetch(url + path);
    const body = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, body, ms: performance.now() - begin };
  }
  const ask = ({ url }: MockServer, more: object = {}) =>
    post(`${url}/v1/completions`, { model: 'mock', prompt: 'abc', max_tokens: 20, ...more });
  /** Times of a probe, asked one after the other, in ascending order. */
  async function probe(
    server: MockServer,
    path: string,
    goesOn: (count: number) => boolean,
  ): Promise<number[]> {
    const times: number[] = [];
    while (goesOn(times.length)) {
      const { status, ms } = await get(server, path);
      expect(status).toBe(200);
      times.push(ms);
      await sleep(2);
    }
    return times.sort((a, b) => a - b);
  }

  it('C22: a prompt of a million tokens keeps neither probes nor other streams waiting', async () => {
    const server = await start(
      { decodeMs: 5, maxPositions: 2_000_000 },
      '--max-body-size',
      '8388608',
    );
    const stream = await ask(server, { stream: true, max_tokens: 100_000, ignore_eos: true });
    const gaps: number[] = [];
    let last = performance.now();
    const reading = (async () => {
      for await (const _ of stream.body ?? []) {
        gaps.push(performance.now() - last);
        last = performance.now();
      }
    })().catch(() => undefined);
    // Letters that no merge joins: a token each.
    const prompt = Array.from(
      { length: 1_050_000 },
      (_, n) => 'zqxjkvbp'[(n * 7 + (n >> 3)) % 8],
    ).join('');
    const at = (values: number[], share: number): number =>
      [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
    /** Probes and streams right before a prompt is tokenized, and meanwhile. */
    const attempt = async () => {
      gaps.length = 0;
      const usual = await probe(server, '/livez', (count) => count < 300);
      const before = gaps.splice(0);
      let isDone = false;
      const tokenizing = post(`${server.url}/tokenize`, { prompt })
        .then((answer) => answer.json())
        .finally(() => {
          isDone = true;
        });
      const times = await probe(server, '/livez', (count) => count < 300 || !isDone);
      const during = gaps.splice(0);
      expect(await tokenizing).toMatchObject({ count: prompt.length });
      return { usual, before, times, during };
    };
    const problemOf = ({ usual, before, times, during }: Awaited<ReturnType<typeof attempt>>) => {
      const [probes, idle] = [at(times, 0.99), at(usual, 0.99)];
      // A machine whose probes take so long without any prompt is judged by those.
      const most = idle < 50 ? 50 : 2 * idle;
      if (!(probes < most)) return `p99 of /livez is ${probes} ms, ${idle} without the prompt`;
      const [gap, usually] = [at(during, 0.5), at(before, 0.5)];
      return gap < 2 * usually + 5 ? undefined : `tokens come every ${gap} ms, not ${usually}`;
    };
    // What others do on the machine comes and goes; a thread that tokenizes is late every time.
    let problem: string | undefined = 'no attempt';
    for (let tries = 0; tries < 3 && problem !== undefined; tries += 1) {
      problem = problemOf(await attempt());
    }
    expect(problem).toBeUndefined();
    server.child.kill('SIGKILL');
    await reading;
  }, 300_000);

  it('C23: an engine that hangs is dead after the watchdog’s time, and the process ends with 70', async () => {
    const server = await start(hangs(60_000), '--watchdog-timeout', '1');
    const exited = once(server.child, 'exit');
    expect((await get(server, '/livez')).status).toBe(200);
    const stream = await ask(server, { stream: true });
    await waitFor(async () => (await get(server, '/livez')).status === 503);
    expect((await get(server, '/health')).status).toBe(503);
    expect(dataOf(await stream.text()).at(-1)).toContain('"code":"engine_dead"');
    await exited;
    expect(server.child.exitCode).toBe(70);
  });

  it('C23: an engine thread that ends is dead at once, and the process ends with 70', async () => {
    process.env['NODE_OPTIONS'] = `--import=${preload}`;
    const server = await start({ decodeMs: 20 }).finally(() => {
      delete process.env['NODE_OPTIONS'];
    });
    const exited = once(server.child, 'exit');
    server.child.kill('SIGWINCH');
    await waitFor(async () => (await get(server, '/livez')).status === 503);
    expect((await get(server, '/health')).body).toEqual({ status: 'engine_dead' });
    await exited;
    expect(server.child.exitCode).toBe(70);
  });

  it('C24: an engine that is busy with one step of 30 s is healthy, and says so at once', async () => {
    const server = await start(hangs(30_000), '--max-num-seqs', '4');
    const requests = Array.from({ length: 12 }, () => ask(server).catch(() => undefined));
    await waitFor(async () => (await server.metric('vllm:num_requests_waiting{')) === 8);
    // Steps before it take two milliseconds.
    const silence = async () =>
      (await get(server, '/health/decode')).body['last_token_age_seconds'];
    await waitFor(async () => Number(await silence()) > 0.3);
    for (const path of ['/health', '/livez', '/readyz']) {
      const times = await probe(server, path, (count) => count < 50);
      expect(times.at(-1), path).toBeLessThan(10_000);
    }
    server.child.kill('SIGKILL');
    await Promise.all(requests);
  });

  it('C25: /health/decode tells idle, ok and stalled apart, and generates nothing itself', async () => {
    const server = await start(
      { decodeMs: 2, faults: [{ kind: 'slow', at: 5, ms: 2500 }] },
      '--watchdog-timeout',
      '1',
      '--shutdown-timeout',
      '0',
    );
    const read = () => get(server, '/health/decode');
    expect(await read()).toMatchObject({
      status: 200,
      body: {
        status: 'idle',
        running: 0,
        last_token_age_seconds: null,
        stall_threshold_seconds: 1,
      },
    });
    const tokens = await server.metric('vllm:generation_tokens_total');
    expect(tokens).toBe(0);
    const answer = ask(server).catch(() => undefined);
    await waitFor(async () => (await read()).body['running'] === 1);
    expect(await read()).toMatchObject({ status: 200, body: { status: 'ok', running: 1 } });
    await waitFor(async () => (await read()).status === 503);
    expect((await read()).body).toMatchObject({ running: expect.any(Number) });
    server.child.kill('SIGKILL');
    await answer;
  });
});
