import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashConfig } from '@altstream/hash-checkpoint';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from './makers/altstream.js';
import { type ModelFolder, makeModelFolder } from './makers/model-folder.js';
import { type Serving, startServing } from './makers/serving.js';

/** The release's layers at a size that a test can hold. */
const small = [
  'hidden_size=256',
  'num_attention_heads=8',
  'intermediate_size=128',
  'shared_intermediate_size=128',
  'dense_intermediate_size=256',
  'vocab_size=600',
  'num_local_experts=8',
  'num_hidden_layers=5',
  'max_position_embeddings=2048',
];

describe('serving a model without its weights', () => {
  let folder: ModelFolder;

  beforeAll(async () => {
    folder = await makeModelFolder('T32');
  });
  const started: Serving[] = [];
  const start = async (...args: readonly string[]): Promise<Serving> => {
    const server = await startServing(...args);
    started.push(server);
    return server;
  };
  // Also those of a test that failed.
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
  });
  afterAll(() => folder?.remove());

  const release = () => ['MiniMax-M3', '--load-format', 'dummy', '--tokenizer', folder.path];
  const cpu = ['--device', 'cpu', '--max-num-seqs', '2'];
  const complete = async (url: string, model: string) => {
    const answer = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt: 'abc', max_tokens: 12, temperature: 1, seed: 3 }),
    });
    const body = (await answer.json()) as { usage: { completion_tokens: number } };
    return { status: answer.status, body };
  };

  it('serves one rank of the built-in release, and says three times that answers mean nothing', async () => {
    const args = [...release(), '--override', ...small, '--simulate-tp-rank', '0/4', ...cpu];
    const server = await start(...args);
    const { status, body } = await complete(server.url, 'MiniMax-M3');
    expect([status, body.usage.completion_tokens]).toEqual([200, 12]);
    const reasons = 'mean nothing: the weights are random, and rank 0 of 4 runs without the others';
    const log = server.output();
    expect(log).toContain(`"outputs":"${reasons}","msg":"answers of this server mean nothing"`);
    expect(log).toContain(`ANSWERS ${reasons.toUpperCase()}`);
    const loads = await (await fetch(`${server.url}/server_info`)).json();
    expect(JSON.stringify(loads)).toContain(reasons);
    expect(await server.stop()).toBe(0);
  });

  it('needs of a folder only what is no weight, and says nothing of the kind for a real model', async () => {
    const bare = join(folder.path, '..', 'bare');
    mkdirSync(bare);
    writeFileSync(join(bare, 'config.json'), JSON.stringify(hashConfig('T32')));
    const dummy = ['--load-format', 'dummy', '--tokenizer', folder.path];
    const server = await start('--model', bare, ...dummy, ...cpu);
    expect((await complete(server.url, 'bare')).status).toBe(200);
    await server.stop();
    const real = await start('--model', folder.path, ...cpu);
    await real.stop();
    expect(real.output()).not.toMatch(/mean nothing/i);
  });

  it.each([
    [2, /no such field; it has .*num_hidden_layers/, ['--override', 'layers=2']],
    [2, /override `hidden_size` is "big", expected a number/, ['--override', 'hidden_size=big']],
    [3, /num_hidden_layers` is 0, expected/, ['--override', 'num_hidden_layers=0']],
  ])('ends with exit code %d and %s', async (code, says, args) => {
    const result = await altstream('serve', ...release(), ...args, ...cpu, '--port', '0');
    expect([result.code, result.stderr]).toEqual([code, expect.stringMatching(says)]);
  });

  it('says what is absent: a tokenizer, a folder, weights', async () => {
    const serve = (...args: string[]) => altstream('serve', ...args, ...cpu, '--port', '0');
    const dummy = ['--load-format', 'dummy'];
    const bare = await serve('MiniMax-M3', ...dummy);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('pass --tokenizer DIR')]);
    const wrong = await serve('MiniMax-M3', ...dummy, '--tokenizer', '/nowhere');
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('no tokenizer.json')]);
    const other = await serve('MiniMax-M9', ...dummy);
    expect(other.stderr).toContain('built-in names, MiniMax-M3, MiniMax-M3-BF16');
    expect((await serve('MiniMax-M3')).code).toBe(3);
  });

  it('says what would fit, in flags, when the memory is too little for the context', async () => {
    const args = ['--gpu-memory-utilization', '0.000001', '--max-model-len', '512'];
    const { code, stderr } = await altstream('serve', folder.path, ...cpu, ...args, '--port', '0');
    expect([code, stderr]).toEqual([
      5,
      expect.stringMatching(
        /KV cache does not fit: one sequence of 512 tokens takes .* smaller steps \(--max-num-seqs, --max-num-batched-tokens: .*--gpu-memory-utilization above 0\.000001/,
      ),
    ]);
  });
});
