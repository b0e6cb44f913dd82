import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';
import { waitFor } from '../makers/wait-for.js';
import { postRaw, type RawClient } from './makers/raw-client.js';
import { post } from './makers/requests.js';

const endless = { model: 'T128', prompt: 'a', max_tokens: 3000, ignore_eos: true };
const path = '/v1/completions';

describe('clients that leave', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T128');
    const args = ['--max-num-seqs', '1', '--max-num-batched-tokens', '128'];
    server = await startTestServer(folder.path, { args });
  });
  afterAll(async () => {
    await server?.close();
    folder?.remove();
  });

  const running = () => server.metric('vllm:num_requests_running');
  const waiting = () => server.metric('vllm:num_requests_waiting');
  const pages = (state: string) => server.metric(`altstream_kv_pages{state="${state}"}`);
  const isFree = async (): Promise<boolean> =>
    (await running()) === 0 && (await pages('pinned')) + (await pages('reserved')) === 0;
  const generated = () => server.metric('vllm:generation_tokens_total');
  const gone = () =>
    server.metric('http_requests_total{handler="/v1/completions",method="POST",status="499"}');

  async function leave(client: RawClient): Promise<void> {
    const before = (await gone()) || 0;
    client.socket.destroy();
    await waitFor(async () => (await gone()) === before + 1);
  }

  it('C1: a client that closes its stream ends the request, its pages are free, and it counts as 499', async () => {
    const before = await generated();
    const client = postRaw(server.url, path, { ...endless, stream: true });
    await waitFor(() => client.received().includes('data: '));
    expect(await running()).toBe(1);
    expect(await pages('pinned')).toBeGreaterThan(0);
    await leave(client);
    await waitFor(isFree);
    const tokens = await generated();
    // It did not end by itself.
    expect(tokens - before).toBeLessThan(endless.max_tokens);
    await post(`${server.url}/v1/completions`, { ...endless, max_tokens: 4 });
    expect(await generated()).toBe(tokens + 4);
  });

  it('C2: so does a client that waits for the whole answer, while its tokens come', async () => {
    const before = await generated();
    const client = postRaw(server.url, path, endless);
    await waitFor(async () => (await running()) === 1);
    await leave(client);
    await waitFor(isFree);
    expect((await generated()) - before).toBeLessThan(endless.max_tokens);
  });

  it('C2: while its prompt is computed', async () => {
    const prompt = Array.from({ length: 4000 }, (_, index) => index % 500);
    const client = postRaw(server.url, path, { ...endless, prompt, max_tokens: 9 });
    await waitFor(async () => (await running()) === 1);
    const computed = await server.metric('vllm:prompt_tokens_total');
    await leave(client);
    await waitFor(isFree);
    expect((await server.metric('vllm:prompt_tokens_total')) - computed).toBeLessThan(4000);
  });

  it('C2: while it is queued, and the request before it goes on', async () => {
    const first = postRaw(server.url, path, { ...endless, stream: true });
    await waitFor(() => first.received().includes('data: '));
    const second = postRaw(server.url, path, { ...endless, prompt: 'b' });
    await waitFor(async () => (await waiting()) === 1);
    await leave(second);
    await waitFor(async () => (await waiting()) === 0);
    const length = first.received().length;
    await waitFor(() => first.received().length > length);
    await leave(first);
    await waitFor(isFree);
  });

  it('C3: what an answer computed before its client left is found by the next turn', async () => {
    const prompt = Array.from({ length: 300 }, (_, index) => (index * 7) % 500);
    const client = postRaw(server.url, path, { ...endless, prompt, stream: true });
    await waitFor(() => client.received().includes('data: '));
    await leave(client);
    await waitFor(isFree);
    const next = await server.client.completions.create({
      model: 'T128',
      prompt: [...prompt, 1, 2, 3],
      max_tokens: 2,
    });
    expect(next.usage?.prompt_tokens_details?.cached_tokens).toBe(256);
  });
});
