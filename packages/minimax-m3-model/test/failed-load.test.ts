import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type CpuOptions, open } from '@altstream/cuda-runtime';
import { type BackendName, onEachBackend } from '@altstream/cuda-runtime/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { readModelConfig } from '../src/config.js';
import { Checkpoint } from '../src/loader/checkpoint.js';
import { loadWeights } from '../src/loader/load-weights.js';
import type { TensorSource } from '../src/loader/tensor-source.js';
import { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import { makeFolders } from './makers/folders.js';

const folder = makeFolders();
const disposals: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const dispose of disposals) await dispose();
});

async function openOn(backend: BackendName, cpu?: CpuOptions) {
  const runtime = await open({ backend, isolated: true, ...(cpu && { cpu }) });
  disposals.push(() => runtime.dispose());
  const bytesInUse = async () => {
    await runtime.device().synchronize();
    return runtime.stats().bytesInUse;
  };
  // What a disposed stream held comes back a moment after the call.
  const expectInUse = (bytes: number) => expect.poll(bytesInUse).toBe(bytes);
  return { runtime, bytesInUse, expectInUse };
}

onEachBackend((backend) => {
  describe('a load that fails half-way', () => {
    // A load from a page that the mapping lost would end the process: docs/decisions/0001.
    it.each([0, 0.3, 0.9])(
      'is a typed error when the file is cut to %f of its bytes meanwhile',
      async (share) => {
        const { runtime, expectInUse } = await openOn(backend);
        const directory = await folder({ model: 'T32' });
        const file = join(directory, 'model.safetensors');
        const { size } = statSync(file);
        let isCut = false;
        const onProgress = () => {
          if (!isCut) truncateSync(file, Math.floor(size * share));
          isCut = true;
        };
        const loading = MiniMaxM3Model.load({ runtime, directory, onProgress });
        await expect(loading).rejects.toMatchObject({
          code: 'MODEL_CHECKPOINT_HEADER',
          message: expect.stringContaining(
            `it ends at byte ${Math.floor(size * share)}; was it cut while being read?`,
          ),
          facts: { file },
        });
        await expectInUse(0);
      },
    );

    it('is the same error when the files are read', async () => {
      const { runtime, expectInUse } = await openOn(backend);
      const directory = await folder({ model: 'T32' });
      const file = join(directory, 'model.safetensors');
      const source = await Checkpoint.open(directory, { access: 'read' });
      const config = await readModelConfig(directory);
      const cut = Math.floor(statSync(file).size / 2);
      truncateSync(file, cut);
      const loading = loadWeights(source, { config, stream: runtime.currentStream() });
      await expect(loading).rejects.toMatchObject({
        code: 'MODEL_CHECKPOINT_HEADER',
        message: expect.stringContaining(`it ends at byte ${cut}; was it cut while being read?`),
      });
      await source.close();
      await expectInUse(0);
    });

    it('reads nothing more once a tensor cannot be read', async () => {
      const { runtime } = await openOn(backend);
      const directory = await folder({ model: 'T32' });
      const checkpoint = await Checkpoint.open(directory);
      let reads = 0;
      const source: TensorSource = {
        tensors: checkpoint.tensors,
        read: async (...piece) => {
          reads++;
          if (reads === 1) throw new Error('planted');
          await checkpoint.read(...piece);
        },
        close: () => checkpoint.close(),
      };
      const config = await readModelConfig(directory);
      const loading = loadWeights(source, { config, stream: runtime.currentStream() });
      await expect(loading).rejects.toThrow('planted');
      await source.close();
      // The other readers finish the tensors that they began, of 133.
      expect(reads).toBeLessThan(10);
    });
  });

  describe('memory', () => {
    it('that measuring the shared expert took is free again', async () => {
      const { runtime, bytesInUse, expectInUse } = await openOn(backend);
      const directory = await folder({ model: 'T32' });
      const plain = await MiniMaxM3Model.load({ runtime, directory });
      const expected = await bytesInUse();
      plain.dispose();
      const measured = { sharedExpert: 'auto', measuredBatchSizes: [1, 2] } as const;
      const model = await MiniMaxM3Model.load({ runtime, directory, ...measured });
      await expectInUse(expected);
      model.dispose();
    });
  });
});

// A device as small as wanted is only the CPU's.
describe('memory that ends', () => {
  it('gives the weights back when measuring the shared expert fails', async () => {
    const { runtime, expectInUse } = await openOn('cpu', { limitBytes: 64 * 2 ** 20 });
    const directory = await folder({ model: 'T32' });
    const measuredBatchSizes = [2 ** 20];
    const options = { runtime, directory, sharedExpert: 'auto', measuredBatchSizes } as const;
    await expect(MiniMaxM3Model.load(options)).rejects.toMatchObject({ code: 'CRT_OOM' });
    await expectInUse(0);
  });

  it('gives back the part of a cache that was there', async () => {
    const { runtime, bytesInUse, expectInUse } = await openOn('cpu', { limitBytes: 64 * 2 ** 20 });
    const model = await MiniMaxM3Model.load({ runtime, directory: await folder({ model: 'T32' }) });
    const before = await bytesInUse();
    // The layers take turns at 64 MiB: some fit, the last does not.
    const pages = Math.floor((60 * 2 ** 20) / model.pageBytes) * 2;
    expect(() => model.createCache(pages)).toThrow(expect.objectContaining({ code: 'CRT_OOM' }));
    await expectInUse(before);
    model.dispose();
  });
});
