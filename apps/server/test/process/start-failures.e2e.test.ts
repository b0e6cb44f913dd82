import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { probe } from '@altstream/cuda-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { DamagedFolder } from '../makers/damage.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';
import { startServing } from '../makers/serving.js';

const norm = 'language_model.model.norm.weight';
const lfsPointer = [
  'version https://git-lfs.github.com/spec/v1',
  `oid sha256:${'ab'.repeat(32)}`,
  'size 4294967296',
  '',
].join('\n');

interface Failure {
  readonly title: string;
  readonly damage: (folder: DamagedFolder) => void;
  readonly args?: readonly string[];
  readonly code?: number;
  /** What the sentence must name. */
  readonly says: RegExp;
}

const failures: Failure[] = [
  {
    title: 'weights that are cut off',
    damage: (folder) => truncateSync(folder.file('model.safetensors'), 200_000),
    says: /model\.safetensors.*(truncated|bytes)/i,
  },
  {
    title: 'a header length beyond the file',
    damage: (folder) => writeFileSync(folder.file('model.safetensors'), Buffer.alloc(64, 0x7f)),
    says: /model\.safetensors.*header/i,
  },
  {
    title: 'a header that lies about offsets',
    damage: (folder) =>
      folder.header((header) => {
        for (const entry of [header[norm]]) if (entry) entry.data_offsets[1] += 1_000_000_000;
      }),
    says: /model\.norm\.weight/,
  },
  {
    title: 'a Git-LFS pointer instead of weights',
    damage: (folder) => writeFileSync(folder.file('model.safetensors'), lfsPointer),
    says: /model\.safetensors.*Git.LFS pointer.*git lfs pull/is,
  },
  {
    title: 'a missing tensor',
    damage: (folder) =>
      folder.header((header) => {
        const { [norm]: entry } = header;
        delete header[norm];
        if (entry) header['another.weight'] = entry;
      }),
    says: /model\.norm\.weight/,
  },
  {
    title: 'a tensor of another shape',
    damage: (folder) =>
      folder.header((header) => {
        const entry = header[norm];
        if (entry) entry.shape = [1, ...entry.shape];
      }),
    says: /model\.norm\.weight.*shape/is,
  },
  {
    title: 'a tensor of another type',
    damage: (folder) =>
      folder.header((header) => {
        const entry = header[norm];
        if (entry) entry.dtype = 'I16';
      }),
    says: /model\.norm\.weight/,
  },
  {
    title: 'an unknown model type',
    damage: (folder) =>
      folder.json('config.json', (config) => {
        config['model_type'] = 'llama';
        config['architectures'] = ['LlamaForCausalLM'];
      }),
    says: /llama/,
  },
  {
    title: 'a config that is no JSON',
    damage: (folder) => writeFileSync(folder.file('config.json'), '{"model_type": '),
    says: /config\.json/,
  },
  {
    title: 'a config without a size',
    damage: (folder) =>
      folder.json('config.json', (config) => {
        delete (config['text_config'] as Record<string, unknown>)['hidden_size'];
      }),
    says: /hidden_size/,
  },
  {
    title: 'a missing tokenizer',
    damage: (folder) => rmSync(folder.file('tokenizer.json')),
    says: /lacks tokenizer\.json/,
  },
  {
    title: 'a broken tokenizer',
    damage: (folder) => writeFileSync(folder.file('tokenizer.json'), '{}'),
    says: /tokenizer\.json/,
  },
  {
    title: 'a broken generation config',
    damage: (folder) => writeFileSync(folder.file('generation_config.json'), '[1'),
    says: /generation_config\.json cannot be read/,
  },
  {
    title: 'a context beyond the model',
    damage: () => undefined,
    args: ['--max-model-len', '99999999'],
    code: 2,
    says: /--max-model-len is 99999999, expected at most/,
  },
  {
    title: 'a context beyond the pages',
    damage: () => undefined,
    args: ['--max-model-len', '200', '--num-gpu-blocks-override', '2'],
    code: 2,
    says: /--max-model-len is 200, expected at most 16, what 2 pages/,
  },
  {
    title: 'graphs that are too small for the sequences',
    damage: () => undefined,
    args: ['--cuda-graph-sizes', '1', '2'],
    code: 2,
    says: /--cuda-graph-sizes is 1 2, expected at least one size ≥ --max-num-seqs/,
  },
  {
    title: 'a template file that is not there',
    damage: () => undefined,
    args: ['--chat-template', 'no-such-file.jinja'],
    code: 2,
    says: /--chat-template no-such-file\.jinja/,
  },
];

describe('starting on what cannot work', () => {
  let folder: ModelFolder;

  beforeAll(async () => {
    folder = await makeModelFolder('T32');
  });
  afterAll(() => folder?.remove());

  async function serveDamaged(damage: Failure['damage'], ...args: readonly string[]) {
    const damaged = new DamagedFolder(folder.path);
    damage(damaged);
    const fixed = ['serve', '--model', damaged.path, '--port', '0', '--log-level', 'silent'];
    const result = await altstream(...fixed, ...args);
    damaged.remove();
    return result;
  }

  it.each(failures)('$title: one sentence and an exit code', async (failure) => {
    const { code, stderr } = await serveDamaged(failure.damage, ...(failure.args ?? []));
    expect(stderr).toMatch(/^altstream: /);
    expect(stderr).toMatch(failure.says);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).toBe(failure.code ?? 3);
  });

  it('names a shard that is missing', async () => {
    const sharded = await makeModelFolder('T32', { shards: 3 });
    rmSync(`${sharded.path}/model-00002-of-00003.safetensors`);
    const { code, stderr } = await altstream('serve', '--model', sharded.path, '--port', '0');
    sharded.remove();
    expect(stderr).toMatch(/model-00002-of-00003\.safetensors/);
    expect(code).toBe(3);
  });

  it('gives the reason why CUDA is not available', async (context) => {
    const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
    if (cuda?.usable) context.skip('this machine has CUDA');
    const { code, stderr } = await serveDamaged(() => undefined, '--device', 'cuda:0');
    expect(stderr).toMatch(/^altstream: .*cuda/i);
    expect(stderr).toContain(cuda?.detail ?? 'a reason');
    expect(code).toBe(4);
  });

  it('serves a context clamped to its pages, and says so', async () => {
    const args = ['--num-gpu-blocks-override', '2', '--log-format', 'json'];
    const server = await startServing('--model', folder.path, ...args);
    const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as {
      data: { max_model_len: number }[];
    };
    expect(data[0]?.max_model_len).toBe(16);
    expect(server.output()).toMatch(/the context is shorter than the model allows/);
    await server.stop();
  });

  it('serves text completions without a chat template, and says what chats lack', async () => {
    const damaged = new DamagedFolder(folder.path);
    rmSync(damaged.file('chat_template.jinja'), { force: true });
    damaged.json('tokenizer_config.json', (config) => {
      delete config['chat_template'];
    });
    const server = await startServing('--model', damaged.path);
    const post = async (path: string, body: object) => {
      const answer = await fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'model', max_tokens: 2, ...body }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    expect((await post('/v1/completions', { prompt: 'a' })).status).toBe(200);
    const chat = await post('/v1/chat/completions', { messages: [{ role: 'user', content: 'a' }] });
    expect(chat.status).toBe(404);
    expect(chat.body['error']).toMatchObject({
      code: 'unsupported_endpoint',
      message: expect.stringMatching(/template/),
    });
    await server.stop();
    damaged.remove();
  });
});
