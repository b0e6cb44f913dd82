import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHashCheckpoint } from '@altstream/hash-checkpoint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelConfig } from '../config/model-config.js';
import { readModelConfig } from '../config.js';
import { Checkpoint } from '../loader/checkpoint.js';
import type { StoredTensor, TensorSource } from '../loader/tensor-source.js';
import { checkWeights } from './check-weights.js';

describe.each([true, false])('the weights of T128, MXFP8 %s', (mxfp8) => {
  const directory = mkdtempSync(join(tmpdir(), 'check-weights-'));
  let config: ModelConfig;
  let checkpoint: Checkpoint;

  beforeAll(async () => {
    await writeHashCheckpoint({ model: 'T128', mxfp8, directory });
    config = await readModelConfig(directory);
    checkpoint = await Checkpoint.open(directory);
  });
  afterAll(async () => {
    await checkpoint.close();
    rmSync(directory, { recursive: true });
  });

  /** The checkpoint with other headers. */
  function changed(change: (tensors: Map<string, StoredTensor>) => void): TensorSource {
    const tensors = new Map(checkpoint.tensors);
    change(tensors);
    return { tensors, read: async () => undefined, close: async () => undefined };
  }

  it('are all there', () => {
    const check = checkWeights(checkpoint, config);
    expect(check).toMatchObject({ problems: [], unused: [] });
    const all = [...checkpoint.tensors.values()];
    const textBytes = all.reduce((sum, { bytes }) => sum + bytes, 0) - check.leftOut.bytes;
    expect(check.used).toEqual({ tensors: all.length - check.leftOut.tensors, bytes: textBytes });
    expect(check.layerBytes).toHaveLength(config.layers.length);
    expect(check.layerBytes.every((bytes) => bytes > 0)).toBe(true);
  });

  it('that are missing or wrong are all named', () => {
    const experts = [...checkpoint.tensors.keys()].filter((name) =>
      /experts\.\d+\..*weight$/.test(name),
    );
    const [first = '', second = '', third = ''] = experts;
    const source = changed((tensors) => {
      tensors.delete(first);
      tensors.set(second, { ...(tensors.get(second) as StoredTensor), shape: [3, 5] });
      tensors.set(third, { ...(tensors.get(third) as StoredTensor), dtype: 'I64' });
      tensors.set('leftover.weight', {
        ...(tensors.get(second) as StoredTensor),
        name: 'leftover.weight',
      });
    });
    const { problems, unused } = checkWeights(source, config);
    expect(problems).toHaveLength(3);
    for (const name of [first, second, third]) expect(problems.join('\n')).toContain(`\`${name}\``);
    expect(unused).toContain('leftover.weight');
  });

  it('of another model are one problem', () => {
    const { problems } = checkWeights(
      changed((tensors) => tensors.clear()),
      config,
    );
    expect(problems).toEqual([expect.stringContaining('the embedding is missing')]);
  });
});
