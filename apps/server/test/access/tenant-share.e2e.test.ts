import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoIsLeftOut, leftOutBecause } from '../makers/demo-model.js';
import { type Serving, startServing } from '../makers/serving.js';
import { waitFor } from '../makers/wait-for.js';

describe.skipIf(demoIsLeftOut)(`S25: a tenant’s share of the cache${leftOutBecause}`, () => {
  let server: Serving;

  beforeAll(async () => {
    const mock = JSON.stringify({ decodeMs: 200, pageTokens: 16, maxPositions: 640 });
    server = await startServing(
      ...['--mock-engine', mock, '--num-gpu-blocks-override', '40', '--max-num-seqs', '8'],
      ...['--tenant-header', 'x-tenant', '--max-tenant-kv-share', '0.5'],
      ...['--max-num-queued-reqs', '4'],
    );
  }, 60_000);
  afterAll(() => server?.stop());

  /**
   * Streams until its client leaves; of the mock, an answer of its whole prompt again and again.
   */
  function ask(tenant: string, prompt: readonly number[], max_tokens: number) {
    const client = new AbortController();
    const body = { model: 'mock', prompt, max_tokens, ignore_eos: true, stream: true };
    const answer = fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant': tenant },
      body: JSON.stringify(body),
      signal: client.signal,
    });
    return { answer, leave: () => client.abort() };
  }
  const prompt = (tokens: number, from: number) =>
    Array.from({ length: tokens }, (_, at) => 50 + ((from + at) % 200));
  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  }

  it('keeps its other requests waiting, and nobody else’s', async () => {
    const models = await (await fetch(`${server.url}/v1/models`)).json();
    // Twenty of forty pages: no request is longer than that.
    expect(models).toMatchObject({ data: [{ max_model_len: 320 }] });
    const greedy = [0, 1, 2].map((one) => ask('greedy', prompt(150, 7 * one), 160));
    await waitFor(async () => (await metric('altstream_tenants_at_kv_share')) === 1);
    expect(await metric('altstream_tenant_kv_usage_max_perc')).toBeLessThanOrEqual(0.5);
    const other = await ask('other', prompt(150, 90), 3).answer;
    expect(other.status).toBe(200);
    expect(await other.text()).toMatch(/\[DONE\]/);
    const { requests } = (await (await fetch(`${server.url}/admin/requests`)).json()) as {
      requests: { state: string; tenant: string }[];
    };
    expect(requests.filter(({ state }) => state === 'waiting').length).toBeGreaterThan(0);
    expect(await metric('altstream_tenants_at_kv_share')).toBe(1);
    for (const { answer, leave } of greedy) {
      leave();
      await answer.then((one) => one.text()).catch(() => undefined);
    }
    await waitFor(async () => (await metric('vllm:num_requests_running\\{.*\\}')) === 0);
    expect(await metric('altstream_tenants_at_kv_share')).toBe(0);
  }, 120_000);

  it('leaves others room in the queue, too', async () => {
    const refused: number[] = [];
    // Eight run and four wait; six of those are half.
    const greedy = Array.from({ length: 12 }, (_, one) => {
      const asked = ask('greedy', prompt(100, 7 * one), 160);
      const answer = asked.answer.then((response) => {
        if (response.status !== 200) refused.push(response.status);
        return response;
      });
      return { ...asked, answer };
    });
    await waitFor(async () => refused.length >= 6);
    const other = await ask('other', prompt(150, 90), 3).answer;
    expect(other.status).toBe(200);
    expect(await other.text()).toMatch(/\[DONE\]/);
    expect(refused).toEqual([503, 503, 503, 503, 503, 503]);
    for (const { answer, leave } of greedy) {
      leave();
      await answer.then((one) => one.text()).catch(() => undefined);
    }
    await waitFor(async () => (await metric('vllm:num_requests_running\\{.*\\}')) === 0);
  }, 120_000);
});
