import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashConfig, hashTensors, writeSafetensors } from '@altstream/hash-checkpoint';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Checkpoint } from './checkpoint.js';

const tensors = [...hashTensors(hashConfig('T32'))];
const index = 'model.safetensors.index.json';
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'checkpoint-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function failure(): Promise<unknown> {
  return Checkpoint.open(directory).then(
    async (checkpoint) => {
      await checkpoint.close();
      throw new Error('the checkpoint was accepted');
    },
    (error: unknown) => error,
  );
}

async function changeIndex(change: (map: Record<string, unknown>) => void): Promise<void> {
  const file = join(directory, index);
  const json = JSON.parse(await readFile(file, 'utf8'));
  change(json.weight_map);
  await writeFile(file, JSON.stringify(json));
}

describe('Checkpoint', () => {
  it.each([1, 3])('gives the bytes of every tensor from %i files', async (shards) => {
    await writeSafetensors(directory, tensors, shards);
    const checkpoint = await Checkpoint.open(directory);
    expect(checkpoint.files).toHaveLength(shards);
    expect(checkpoint.tensors.size).toBe(tensors.length);
    for (const { name, dtype, shape, bytes } of tensors) {
      const stored = checkpoint.tensors.get(name);
      expect(stored).toMatchObject({ dtype, shape });
      if (!stored) continue;
      const read = new Uint8Array(stored.bytes);
      await checkpoint.read(stored, 0, read);
      expect(Buffer.compare(read, bytes)).toBe(0);
    }
    await checkpoint.close();
  });

  it('gives the same bytes from files that are read', async () => {
    await writeSafetensors(directory, tensors, 2);
    const checkpoint = await Checkpoint.open(directory, { access: 'read' });
    for (const { name, bytes } of tensors.slice(0, 20)) {
      const stored = checkpoint.tensors.get(name);
      const read = new Uint8Array(bytes.byteLength);
      if (stored) await checkpoint.read(stored, 0, read);
      expect(Buffer.compare(read, bytes)).toBe(0);
    }
    await checkpoint.close();
  });

  it('reads a piece, and refuses one beyond the tensor', async () => {
    await writeSafetensors(directory, tensors);
    const checkpoint = await Checkpoint.open(directory);
    const name = 'language_model.lm_head.weight';
    const stored = checkpoint.tensors.get(name);
    if (!stored) throw new Error(name);
    const piece = new Uint8Array(10);
    await checkpoint.read(stored, 6, piece);
    const whole = tensors.find((tensor) => tensor.name === name);
    expect(Buffer.compare(piece, whole?.bytes.subarray(6, 16) ?? piece)).toBe(0);
    await expect(checkpoint.read(stored, stored.bytes - 9, piece)).rejects.toThrow(RangeError);
    await checkpoint.close();
  });

  it('names an empty folder', async () => {
    expect(await failure()).toMatchObject({ code: 'MODEL_CHECKPOINT_FILE' });
  });

  it.each(['model.safetensors', index])(
    'takes no pipe for %s, which would never end',
    async (name) => {
      execFileSync('mkfifo', [join(directory, name)]);
      expect(await failure()).toMatchObject({ code: 'MODEL_CHECKPOINT_FILE' });
    },
  );

  it.each([
    [0, 'not even the 8'],
    [7, 'not even the 8'],
    [8, 'but has 8 bytes in all'],
    [1000, 'but has 1000 bytes in all'],
    [200_000, 'data_offsets'],
  ])('refuses a file cut to %i bytes', async (bytes, words) => {
    await writeSafetensors(directory, tensors);
    await truncate(join(directory, 'model.safetensors'), bytes);
    const error = (await failure()) as Error;
    expect(error).toMatchObject({ code: 'MODEL_CHECKPOINT_HEADER' });
    expect(error.message).toContain(words);
  });

  it.each([2n ** 63n, 100_000_001n, 2n ** 64n - 1n])('refuses a header of %i bytes', async (n) => {
    const file = Buffer.alloc(64);
    file.writeBigUInt64LE(n);
    await writeFile(join(directory, 'model.safetensors'), file);
    expect(await failure()).toMatchObject({ code: 'MODEL_CHECKPOINT_HEADER' });
  });

  it('refuses a header that is not UTF-8', async () => {
    const file = Buffer.alloc(16, 0xff);
    file.writeBigUInt64LE(8n);
    await writeFile(join(directory, 'model.safetensors'), file);
    expect(await failure()).toMatchObject({ message: expect.stringContaining('UTF-8') });
  });

  it('names a missing shard and how many tensors it had', async () => {
    const [, second] = await writeSafetensors(directory, tensors, 3);
    await rm(join(directory, second?.file ?? ''));
    expect(await failure()).toMatchObject({
      code: 'MODEL_CHECKPOINT_SHARD_MISSING',
      facts: { shard: second?.file, tensors: second?.tensors },
    });
  });

  it('names a tensor that its shard does not have', async () => {
    await writeSafetensors(directory, tensors, 2);
    await changeIndex((map) => {
      map['absent.weight'] = 'model-00001-of-00002.safetensors';
    });
    expect(await failure()).toMatchObject({
      code: 'MODEL_CHECKPOINT_TENSOR_MISSING',
      facts: { tensor: 'absent.weight' },
    });
  });

  it.each(['../outside.safetensors', '/etc/passwd', 7, 'x.bin'])(
    'refuses an index that points to %s (S14)',
    async (target) => {
      await writeSafetensors(directory, tensors, 2);
      await changeIndex((map) => {
        map['language_model.lm_head.weight'] = target;
      });
      expect(await failure()).toMatchObject({ code: 'MODEL_CHECKPOINT_INDEX' });
    },
  );

  it.each(['{', 'null', '{}', '{"weight_map": []}', '{"weight_map": {}}'])(
    'refuses the index %s',
    async (text) => {
      await writeFile(join(directory, index), text);
      expect(await failure()).toMatchObject({ code: 'MODEL_CHECKPOINT_INDEX' });
    },
  );
});
