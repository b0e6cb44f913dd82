import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeMockFolder } from '../conformance/makers/mock-server.js';
import { altstream } from '../makers/altstream.js';
import { type Serving, startServing } from '../makers/serving.js';

describe('altstream bench of a trace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'replay-'));
  const trace = join(folder, 'trace.jsonl');
  const tokenizer = makeMockFolder();
  let server: Serving;
  let recordedHits: number;

  const start = (...flags: string[]) =>
    startServing('--tokenizer', tokenizer, '--mock-engine', '{"pageTokens":16}', ...flags);

  beforeAll(async () => {
    const recorded = await start('--record-trace', trace);
    for (const end of ['one.', 'another one.']) {
      const answer = await fetch(`${recorded.url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'mock',
          prompt: `${'the same '.repeat(8)}${end}`,
          max_tokens: 5,
        }),
      });
      await answer.text();
    }
    recordedHits = await hits(recorded);
    await recorded.stop();
    server = await start();
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    for (const made of [folder, tokenizer]) rmSync(made, { recursive: true });
  });

  /** Tokens of prompts that were found in the cache. */
  async function hits({ url }: Serving): Promise<number> {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return Number(/^vllm:prefix_cache_hits_total\{.*\} (\d+)$/m.exec(metrics)?.[1]);
  }

  it('sends prompts of the same lengths, of which the same pages are found', async () => {
    const { code, stderr } = await altstream(
      ...['bench', '--base-url', server.url, '--tokenizer', tokenizer, '--warmup', '0'],
      ...['--dataset-name', 'replay', '--dataset-path', trace, '--ignore-eos'],
      // So that the first prompt is in the cache when the second one comes.
      ...['--max-concurrency', '1'],
      ...['--save-result', '--result-dir', folder, '--result-filename', 'r.json'],
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8'))).toMatchObject({
      dataset_name: 'replay',
      request_rate: 'recorded',
      num_prompts: 2,
      completed: 2,
      total_output_tokens: 10,
    });
    expect(recordedHits).toBeGreaterThan(0);
    expect(await hits(server)).toBe(recordedHits);
  });
});
