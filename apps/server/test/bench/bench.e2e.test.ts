import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startTestServer, type TestServer } from '../makers/test-server.js';
import { startTimed } from './makers/timed-server.js';

describe('altstream bench', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  let model: ModelFolder;
  let server: TestServer;

  beforeAll(async () => {
    model = await makeModelFolder('T128', { mxfp8: true });
    server = await startTestServer(model.path);
  });
  afterAll(async () => {
    await server?.close();
    model?.remove();
    rmSync(folder, { recursive: true });
  });

  const bench = (...args: string[]) =>
    altstream('bench', '--base-url', server.url, '--random-input-len', '16', ...args);

  it('measures our server: table, JSON, one more line, plot', async () => {
    // None of these folders is there.
    const [results, lines] = [join(folder, 'a', 'b'), join(folder, 'c', 'all.jsonl')];
    const run = (rate: string, ...more: string[]) =>
      bench(
        ...['--num-prompts', '6', '--random-output-len', '8', '--ignore-eos', '--save-result'],
        ...['--tokenizer', model.path, '--request-rate', rate, '--max-concurrency', '2'],
        ...['--result-dir', results, '--result-filename', 'r.json', '--output-file', lines],
        ...['--goodput', 'ttft:60000', 'e2el:60000', '--label', 'a', ...more],
      );
    const { code, stdout, stderr } = await run('inf');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Completed requests +6$/m);
    expect(stdout).toMatch(/^Output tokens\/s +[\d.]+$/m);
    const result = JSON.parse(readFileSync(join(results, 'r.json'), 'utf8'));
    expect(result).toMatchObject({
      backend: 'openai',
      model_id: 'T128',
      request_rate: 'inf',
      completed: 6,
      failed: 0,
      total_output_tokens: 48,
      max_concurrent_requests: 2,
      server_info: { state: 'ready' },
    });
    expect(result.request_goodput).toBeCloseTo(result.request_throughput, 9);
    expect(result.mean_e2el_ms).toBeGreaterThan(result.mean_ttft_ms);
    expect(readFileSync(join(results, 'r.svg'), 'utf8')).toMatch(/^<svg [\s\S]*TTFT[\s\S]*<\/svg>/);
    expect((await run('50', '--flush-cache')).code).toBe(0);
    const kept = readFileSync(lines, 'utf8').trim().split('\n');
    expect(kept.map((line) => JSON.parse(line).request_rate)).toEqual(['inf', 50]);
  });

  it('measures chats', async () => {
    const { code, stdout } = await bench(
      ...['--backend', 'openai-chat', '--num-prompts', '2', '--random-output-len', '4'],
    );
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Completed requests +2$/m)]);
  });

  it('measures dialogues with tools: later requests find what those before them left', async () => {
    const { code, stdout, stderr } = await bench(
      ...['--backend', 'openai-chat', '--dataset-name', 'tool-use', '--num-prompts', '7'],
      ...['--tool-use-turns', '3', '--tool-use-tools', '2', '--tool-use-result-len', '24'],
      ...['--random-output-len', '4', '--save-result', '--result-dir', folder],
      ...['--result-filename', 'tools.json'],
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^-- Mean time to first token in a dialogue -+$/m);
    expect(stdout).toMatch(/^ {2}request 3, ms +[\d.]+$/m);
    const result = JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'));
    expect(result).toMatchObject({
      ...{ dataset_name: 'tool-use', turns: 3, tools: 2, num_prompts: 7, completed: 7, failed: 0 },
      mean_ttft_ms_by_turn: [0, 1, 2].map(() => expect.any(Number)),
    });
    expect(result.total_cached_tokens).toBeGreaterThan(0);
    expect(result.total_cached_tokens).toBeLessThan(result.total_input_tokens);
  });

  it('warms up with a tool where requests have to call one', async () => {
    const { code, stderr } = await bench(
      ...['--backend', 'openai-chat', '--dataset-name', 'tool-use', '--num-prompts', '1'],
      ...['--tool-use-turns', '1', '--random-output-len', '4'],
      ...['--extra-body', '{"tool_choice":"required"}'],
    );
    expect([code, stderr]).toEqual([0, '']);
  });

  it('measures prompts that fill the context', async () => {
    const list = (await (await fetch(`${server.url}/v1/models`)).json()) as {
      data: { max_model_len: number }[];
    };
    const context = list.data[0]?.max_model_len ?? 0;
    const { code, stderr } = await altstream(
      ...['bench', '--base-url', server.url, '--dataset-name', 'long-1m', '--num-prompts', '2'],
      ...['--random-output-len', '4', '--save-result', '--result-dir', folder],
      ...['--result-filename', 'long.json', '--max-concurrency', '1'],
    );
    expect([code, stderr]).toEqual([0, `long-1m: prompts of ${context - 68} tokens\n`]);
    const result = JSON.parse(readFileSync(join(folder, 'long.json'), 'utf8'));
    expect(result).toMatchObject({ completed: 2, input_len: context - 68 });
    expect(result.total_input_tokens).toBeLessThanOrEqual(2 * (context - 68));
    expect(result.total_input_tokens).toBeGreaterThan(1.9 * (context - 68));
  });

  it('names what is wrong', async () => {
    const aFile = join(model.path, 'config.json');
    const flags: [string[], RegExp][] = [
      [['--request-rate', '0'], /Expected a number above 0/],
      [['--goodput', 'speed:1'], /Expected ttft:MS/],
      [['--dataset-name', 'sharegpt'], /needs --dataset-path FILE/],
      [['--dataset-name', 'tool-use'], /tool-use needs --backend openai-chat/],
      [['--plot', join(aFile, 'x.svg')], /--plot .*x\.svg cannot be written/],
      [['--output-file', folder], /--output-file .* cannot be written: it is a folder/],
      [['--save-result', '--result-dir', aFile], /--result-dir .* cannot be written/],
      [['--model', 'other'], /serves T128/],
      [['--random-input-len', '20000'], /the warm-up request failed: status 400/],
    ];
    for (const [args, message] of flags) {
      const { code, stderr } = await bench(...args);
      expect([args, code, stderr]).toEqual([args, 2, expect.stringMatching(message)]);
    }
    const bare = await bench('--tokenizer', folder);
    expect([bare.code, bare.stderr]).toEqual([3, expect.stringMatching(/tokenizer\.json/)]);
    const gone = await altstream('bench', '--base-url', 'http://127.0.0.1:9');
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('no server answers')]);
  });

  it('asks other servers to flush and to profile, and fails when requests do', async () => {
    const other = await startTimed((request) => ({
      firstMs: 1,
      gapMs: 1,
      pieces: [{ text: 'a' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
      ...(request === 2 ? { status: 500 } : {}),
    }));
    const { code, stdout } = await altstream(
      ...['bench', '--base-url', other.url, '--num-prompts', '3', '--flush-cache', '--profile'],
    );
    expect([code, stdout]).toEqual([1, expect.stringContaining('1 of 3 requests failed')]);
    const controls = other.paths.filter((path) => /cache|profile/.test(path));
    expect(controls).toEqual(['/flush_cache', '/start_profile', '/stop_profile']);
    expect(other.bodies).toHaveLength(4);
    await other.close();
  });
});
