import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadTokenizer } from '@altstream/minimax-m3-chat';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flatConfig } from '../src/config-variants.js';
import { type ConfigJson, hashConfig } from '../src/hash-config.js';
import { listTensors } from '../src/tensor-list.js';
import { writeHashCheckpoint } from '../src/write-checkpoint.js';

const run = promisify(execFile);
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hash-checkpoint-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function json(file: string) {
  return JSON.parse(await readFile(join(directory, file), 'utf8'));
}

describe('writeHashCheckpoint', () => {
  it('writes every file of a checkpoint folder, T128 in less than three seconds of one core', async () => {
    const started = process.cpuUsage();
    const [file] = await writeHashCheckpoint({ model: 'T128', directory });
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(3);
    expect(file?.tensors).toBe(144);
    expect((await readdir(directory)).sort()).toEqual([
      'chat_template.jinja',
      'config.json',
      'generation_config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(await json('config.json')).toEqual(hashConfig('T128'));
  });

  it('splits into shards with an index that names every tensor', async () => {
    const files = await writeHashCheckpoint({ model: 'T32', directory, shards: 3, mxfp8: true });
    const index = await json('model.safetensors.index.json');
    expect(files).toHaveLength(3);
    expect(Object.keys(index.weight_map)).toHaveLength(237);
    expect(new Set(Object.values(index.weight_map)).size).toBe(3);
    expect((await json('config.json')).quantization_config.quant_method).toBe('mxfp8');
  });

  it('writes the flat spelling', async () => {
    await writeHashCheckpoint({ model: 'T32', directory, flatConfig: true });
    const { text_config: text } = await json('config.json');
    expect(text.sparse_attention_config).toBeUndefined();
    expect(text.layer_types[2]).toBe('minimax_m3_sparse');
  });

  it('leaves a config flat that is flat already', async () => {
    const flat = flatConfig(hashConfig('T32'));
    expect(JSON.parse(JSON.stringify(flatConfig(flat)))).toEqual(JSON.parse(JSON.stringify(flat)));
  });

  it('keeps the rotary width in the flat spelling, whichever field gave it', () => {
    const { text_config: text, ...top } = hashConfig('T32') as { text_config: ConfigJson };
    const { partial_rotary_factor: factor, ...withoutFactor } = text;
    const flat = flatConfig({ ...top, text_config: withoutFactor })['text_config'];
    expect(flat).toMatchObject({ rope_parameters: { partial_rotary_factor: factor } });
  });

  it('refuses to lose forced leading blocks in the flat spelling', () => {
    const { text_config: text } = hashConfig('T32') as { text_config: ConfigJson };
    const sparse = { ...(text['sparse_attention_config'] as ConfigJson), sparse_init_block: 1 };
    const config = { text_config: { ...text, sparse_attention_config: sparse } };
    expect(() => flatConfig(config)).toThrow('sparse_init_block');
  });

  it.each([
    ['dense only', { moe_layer_freq: [0, 0, 0, 0], intermediate_size: undefined }, 'block_sparse'],
    ['without a routing bias', { use_routing_bias: false }, 'e_score_correction_bias'],
    [
      'with sparse attention switched off',
      {
        sparse_attention_config: {
          use_sparse_attention: false,
          sparse_attention_freq: [1, 1, 1, 1],
        },
      },
      'self_attn.index',
    ],
  ])('lists only the tensors that a model has: %s', (_, change, absent) => {
    const { text_config: text, ...top } = hashConfig('T32') as { text_config: ConfigJson };
    const names = listTensors({ ...top, text_config: { ...text, ...change } }).map((t) => t.name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => name.includes(absent))).toEqual([]);
  });

  it('writes a tokenizer whose stop token is the one of generation_config', async () => {
    await writeHashCheckpoint({ model: 'T32', directory });
    const tokenizer = await loadTokenizer(directory);
    const { eos_token_id: stop } = await json('generation_config.json');
    expect(tokenizer.specialId('[e~[')).toBe(stop);
    expect(tokenizer.vocabSize).toBe(256);
  });

  it('refuses a config without a size, naming it', async () => {
    const model = { text_config: { hidden_size: 64 } };
    await expect(writeHashCheckpoint({ model, directory, tokenizer: false })).rejects.toThrow(
      '`vocab_size` is missing',
    );
  });

  it('is a command', async () => {
    const main = new URL('../src/main.ts', import.meta.url).pathname;
    const tsx = ['--conditions=@altstream/source', '--import', 'tsx', main];
    const out = join(directory, 'made');
    const { stdout } = await run('node', [...tsx, '--model', 'T32', '--out', out]);
    expect(stdout).toContain('133 tensors');
    const failed = await run('node', [
      ...tsx,
      '--model',
      'T32',
      '--out',
      out,
      '--shards',
      'x',
    ]).catch((error: { stderr: string }) => error.stderr);
    expect(failed).toContain('--shards');
  });
});
