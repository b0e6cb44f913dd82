import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { findModel, readGenerationDefaults } from './model-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'model-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

function defaultsOf(config: unknown, which = 'auto') {
  writeFileSync(join(folder, 'generation_config.json'), JSON.stringify(config));
  return readGenerationDefaults(folder, which);
}

describe('generation_config.json', () => {
  it('gives sampling defaults and stop ids', () => {
    const config = { temperature: 1, top_p: 0.95, top_k: 40, min_p: null, eos_token_id: [5, 6] };
    expect(defaultsOf(config)).toEqual({
      temperature: 1,
      topP: 0.95,
      topK: 40,
      eosTokenIds: [5, 6],
    });
    expect(defaultsOf({ eos_token_id: 7, do_sample: true })).toEqual({ eosTokenIds: [7] });
    expect(defaultsOf({})).toEqual({ eosTokenIds: [] });
  });

  it('may be that of another folder, which must have one', () => {
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'generation_config.json'), '{"top_k": 7}');
    expect(defaultsOf({ top_k: 40 }, other)).toEqual({ topK: 7, eosTokenIds: [] });
    expect(readGenerationDefaults(undefined, other)).toEqual({ topK: 7, eosTokenIds: [] });
    const nowhere = { exitCode: 2, message: expect.stringMatching(/expected auto, none, or/) };
    expect(() => defaultsOf({}, join(folder, 'no'))).toThrow(expect.objectContaining(nowhere));
  });

  it.each([
    ['temperature', -1],
    ['temperature', '1'],
    ['top_p', 0],
    ['top_k', 1.5],
    ['min_p', 2],
    ['eos_token_id', 'x'],
    ['eos_token_id', [1, -1]],
  ])('with a %s of %j is refused at the start, not with every request', (field, value) => {
    const config = { [field]: value };
    expect(() => defaultsOf(config)).toThrow(
      expect.objectContaining({ exitCode: 3, message: expect.stringContaining(`${field} is `) }),
    );
    expect(defaultsOf(config, 'none')).toEqual({ eosTokenIds: [] });
  });
});

describe('a model by its name on the hub', () => {
  const snapshot = join(folder, 'models--Owner--small', 'snapshots', 'c'.repeat(40));
  afterEach(() => vi.unstubAllEnvs());

  it('is served under that name from the snapshot that was downloaded', () => {
    vi.stubEnv('HF_HUB_CACHE', folder);
    mkdirSync(snapshot, { recursive: true });
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
      writeFileSync(join(snapshot, file), '{}');
    const found = findModel({ model: 'Owner/small', loadFormat: 'auto' } as const);
    expect(found).toMatchObject({ model: snapshot, name: 'Owner/small', tokenizer: snapshot });
  });

  it('is said to be absent with the place where it was looked for', () => {
    vi.stubEnv('HF_HUB_CACHE', folder);
    const find = () => findModel({ model: 'Owner/other', loadFormat: 'auto' } as const);
    expect(find).toThrow(`Owner/other does not exist, and ${folder} has no such model. The server`);
  });
});
