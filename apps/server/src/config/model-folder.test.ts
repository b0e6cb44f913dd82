import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readGenerationDefaults } from './model-folder.js';

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
