import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { startTestServer, type TestServer } from './makers/test-server.js';

/** Tokens of a page of T32. */
const page = 8;
const promptOf = (first: number): number[] =>
  Array.from({ length: 4 * page + 3 }, (_, i) => 3 + ((i * 37 + first) % 190));

/** Extensions that the client's types do not know. */
interface Extra {
  readonly cache_salt?: string;
  readonly stop?: string;
  readonly max_tokens?: number;
}

async function found(
  client: OpenAI,
  prompt: readonly number[],
  extra: Extra = {},
): Promise<number | undefined> {
  const body = { model: 'T32', prompt: [...prompt], max_tokens: 2, temperature: 0, ...extra };
  const { usage } = await client.completions.create(body);
  return usage?.prompt_tokens_details?.cached_tokens;
}

describe('the prefix cache of a server', () => {
  let folder: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    folder = await makeModelFolder('T32');
    server = await startTestServer(folder.path);
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  it('is told in the usage and the metrics of text completions', async () => {
    const { client, metric } = server;
    const names = ['queries', 'hits'].map((name) => `vllm:prefix_cache_${name}_total`);
    const before = await Promise.all(names.map(metric));
    expect(await found(client, promptOf(1))).toBe(0);
    expect(await found(client, promptOf(1))).toBe(4 * page);
    const after = await Promise.all(names.map(metric));
    expect(after.map((count, i) => count - (before[i] ?? 0))).toEqual([
      2 * (4 * page + 3),
      4 * page,
    ]);
    expect(await metric('altstream_kv_pages{state="evictable"}')).toBeGreaterThanOrEqual(4);
    expect(await metric('vllm:kv_cache_usage_perc')).toBe(0);
    expect(await metric('altstream_kv_ledger_errors_total')).toBe(0);
  });

  it('is told in the usage of chats, whole and streamed, and of an answer that a text ended', async () => {
    const messages = [{ role: 'user' as const, content: 'Tell me of a lighthouse, at length.' }];
    const body = { model: 'T32', messages, temperature: 0, max_tokens: 12, n: 2 };
    const whole = await server.client.chat.completions.create(body);
    const { prompt_tokens: tokens = 0 } = whole.usage ?? {};
    const known = Math.floor((tokens - 1) / page) * page;
    const [choice] = whole.choices;
    const text = choice?.message.content ?? '';
    const usages: unknown[] = [];
    for (const stop of [undefined, text.slice(0, 1) || undefined]) {
      const stream = await server.client.chat.completions.create({
        ...body,
        ...(stop === undefined ? {} : { stop }),
        stream: true,
        stream_options: { include_usage: true },
      });
      for await (const { usage } of stream) if (usage) usages.push(usage.prompt_tokens_details);
    }
    expect(usages).toEqual([{ cached_tokens: known }, { cached_tokens: known }]);
  });

  it('keeps what a client that left had computed', async () => {
    const left = new AbortController();
    const stream = await server.client.completions.create(
      { model: 'T32', prompt: promptOf(9), max_tokens: 60, stream: true, ...{ ignore_eos: true } },
      { signal: left.signal },
    );
    for await (const _ of stream) break;
    left.abort();
    expect(await found(server.client, [...promptOf(9), 5, 6, 7])).toBe(4 * page);
  });

  it('keeps salts apart, and refuses an empty one', async () => {
    const { client } = server;
    const salts = ['a', 'b', 'a', undefined];
    const counts: unknown[] = [];
    for (const salt of salts) {
      const extra = salt === undefined ? {} : { cache_salt: salt };
      counts.push(await found(client, promptOf(20), extra));
    }
    expect(counts).toEqual([0, 0, 4 * page, 0]);
    await expect(found(client, promptOf(20), { cache_salt: '' })).rejects.toMatchObject({
      status: 400,
      param: 'cache_salt',
    });
  });

  it('keeps the keys of several apart, unless they may share (S17)', async () => {
    const counts = async (...args: readonly string[]): Promise<unknown[]> => {
      const several = await startTestServer(folder.path, {
        apiKey: 'one',
        args: ['--api-key', 'two', ...args],
      });
      const counted: unknown[] = [];
      for (const apiKey of ['one', 'two', 'one']) {
        const client = new OpenAI({ baseURL: `${several.url}/v1`, apiKey, maxRetries: 0 });
        counted.push(await found(client, promptOf(2)));
      }
      await several.close();
      return counted;
    };
    expect(await counts()).toEqual([0, 0, 4 * page]);
    expect(await counts('--prefix-cache-isolation', 'none')).toEqual([0, 4 * page, 4 * page]);
  });

  it('can be switched off', async () => {
    const off = await startTestServer(folder.path, { args: ['--no-enable-prefix-caching'] });
    for (let time = 0; time < 2; time += 1) expect(await found(off.client, promptOf(1))).toBe(0);
    await off.close();
  });
});
