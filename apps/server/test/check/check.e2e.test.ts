import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { altstream } from '../makers/altstream.js';
import { DamagedFolder } from '../makers/damage.js';
import { type ModelFolder, makeModelFolder } from '../makers/model-folder.js';

interface Checked {
  readonly isGood: boolean;
  readonly findings: readonly { name: string; isGood: boolean; detail: string }[];
  readonly memory: { readonly tokensThatFit: number } | null;
}

describe('altstream check', () => {
  let model: ModelFolder;
  let sharded: ModelFolder;

  beforeAll(async () => {
    model = await makeModelFolder('T128', { mxfp8: true });
    sharded = await makeModelFolder('T128', { mxfp8: true, shards: 3 });
  });
  afterAll(() => {
    model?.remove();
    sharded?.remove();
  });

  it('finds a whole checkpoint good, and says what fits', async () => {
    const { code, stdout, stderr } = await altstream('check', sharded.path, '--device', 'cpu');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^ok +weight files +3 shards, /m);
    expect(stdout).toMatch(/^ok +weights +all \d+, /m);
    expect(stdout).toMatch(/^ok +memory +[\d.]+ MiB of weights in .* free on cpu/m);
    expect(stdout).toMatch(/tokens fit beside them$/m);
    expect(stdout.trimEnd()).toMatch(/can be served$/);
    const json = await altstream('check', model.path, '--json', '--device', 'cpu');
    const checked = JSON.parse(json.stdout) as Checked;
    expect(checked).toMatchObject({ isGood: true, exitCode: 0 });
    expect(checked.memory?.tokensThatFit).toBeGreaterThan(1000);
  });

  it.each<[string, (folder: DamagedFolder) => void, string, RegExp]>([
    [
      'an absent shard',
      (f) => rmSync(f.file('model-00002-of-00003.safetensors')),
      'weight files',
      /^1 of 3 shards are absent; .* are to come, .* free:\nmodel-00002/,
    ],
    [
      'a short shard',
      (f) => truncateSync(f.file('model-00003-of-00003.safetensors'), 2000),
      'headers',
      /model-00003/,
    ],
    [
      'a pointer',
      (f) =>
        writeFileSync(f.file('tokenizer.json'), 'version https://git-lfs.github.com/spec/v1\n'),
      'pointers',
      /^tokenizer\.json: a Git LFS pointer/,
    ],
    [
      'a broken index',
      (f) => writeFileSync(f.file('model.safetensors.index.json'), '{'),
      'weight files',
      /index\.json: .*JSON/,
    ],
    [
      'another width',
      (f) =>
        f.json('config.json', (c) => Object.assign(c['text_config'] ?? c, { hidden_size: 512 })),
      'weights',
      /of \d+ are missing or wrong:\n/,
    ],
    [
      'a small vocabulary',
      (f) =>
        f.json('config.json', (c) => Object.assign(c['text_config'] ?? c, { vocab_size: 100 })),
      'tokenizer',
      /ids up to \d+, the model 100 of them/,
    ],
    [
      'no template',
      (f) => rmSync(f.file('chat_template.jinja')),
      'template',
      /neither chat_template\.jinja/,
    ],
    [
      'a wrong default',
      (f) => writeFileSync(f.file('generation_config.json'), '{"top_p": 7}'),
      'sampling',
      /top_p is 7/,
    ],
  ])('names %s', async (_, damage, name, detail) => {
    const folder = new DamagedFolder(sharded.path);
    damage(folder);
    const { code, stdout } = await altstream('check', folder.path, '--json');
    folder.remove();
    expect(code).toBe(3);
    const { isGood, findings } = JSON.parse(stdout) as Checked;
    expect(isGood).toBe(false);
    const finding = findings.find((one) => one.name === name);
    expect(finding).toEqual({ name, isGood: false, detail: expect.stringMatching(detail) });
  });

  it('says what is not there', async () => {
    const folder = await altstream('check', 'no/such/folder');
    expect([folder.code, folder.stderr]).toEqual([
      3,
      expect.stringMatching(/does not exist; .*hf/),
    ]);
    const device = await altstream('check', model.path, '--device', 'cuda:99');
    expect([device.code, device.stdout]).toEqual([
      4,
      expect.stringMatching(/^no +device .*doctor/m),
    ]);
    expect((await altstream('check', '--device', 'tpu')).code).toBe(2);
  });
});
