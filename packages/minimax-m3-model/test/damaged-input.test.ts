import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@altstream/cuda-runtime/testing';
import { flatConfig, hashConfig, hashTensors, writeSafetensors } from '@altstream/hash-checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseModelConfig } from '../src/config.js';
import { CheckpointError, ModelConfigError } from '../src/errors/index.js';
import { Checkpoint } from '../src/loader/checkpoint.js';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'damaged-'));
});
afterAll(async () => {
  await rm(directory, { recursive: true });
});

describe('damaged safetensors headers (S15)', () => {
  it('are refused with a typed error or are harmless, wherever a byte is wrong', async () => {
    await writeSafetensors(directory, hashTensors(hashConfig('T32')));
    const file = join(directory, 'model.safetensors');
    const good = await readFile(file);
    const headerEnd = 8 + Number(good.readBigUInt64LE());
    const random = seededRandom(7);
    let refused = 0;
    for (let trial = 0; trial < 300; trial++) {
      const bad = Buffer.from(good);
      const changes = random.integer(1, 4);
      for (let i = 0; i < changes; i++) {
        // Every tenth change hits the length of the header.
        const at =
          random.integer(0, 10) === 0 ? random.integer(0, 8) : random.integer(8, headerEnd);
        bad[at] =
          random.integer(0, 2) === 0 ? random.integer(0, 256) : 0x30 + random.integer(0, 10);
      }
      await writeFile(file, bad);
      const outcome = await Checkpoint.open(directory).then(
        (checkpoint) => checkpoint.close(),
        (error: unknown) => error,
      );
      if (outcome === undefined) continue;
      expect(outcome).toBeInstanceOf(CheckpointError);
      refused++;
    }
    expect(refused).toBeGreaterThan(150);
  });
});

describe('damaged configs', () => {
  const values = [null, -1, 0, 1.5, 1e300, '', 'x', true, [], {}, [[1]], [0, 1, 1, 7], { a: 1 }];
  it.each([
    ['nested', hashConfig('T32')],
    ['flat', flatConfig(hashConfig('T32'))],
  ])('are refused with a typed error or make sense, whatever a field holds (%s)', (_, base) => {
    let refused = 0;
    for (const path of pathsOf(base)) {
      for (const value of values) {
        const json = JSON.parse(JSON.stringify(base));
        const parent = path.slice(0, -1).reduce((object, key) => object[key], json);
        parent[path.at(-1) as string] = value;
        try {
          const config = parseModelConfig(json);
          expect(config.layers.length).toBeGreaterThan(0);
          expect(config.heads % config.kvHeads).toBe(0);
        } catch (error) {
          if (!(error instanceof ModelConfigError)) throw error;
          expect(error.message).toMatch(/^config\.json/);
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(100);
  });
});

/** Every field, nested ones too. */
function pathsOf(json: unknown, path: string[] = []): string[][] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([key, value]) => [
    [...path, key],
    ...pathsOf(value, [...path, key]),
  ]);
}
