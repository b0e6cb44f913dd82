import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type Tensor } from '@altstream/cuda-runtime';
import { onEachBackend } from '@altstream/cuda-runtime/testing';
import { hashConfig, quantizedConfig } from '@altstream/hash-checkpoint';
import { beforeAll, describe, expect, it } from 'vitest';
import { builtInConfig } from '../src/config/built-in-configs.js';
import { parseModelConfig } from '../src/config.js';
import { DummySource } from '../src/loader/dummy/dummy-source.js';
import { listDummyTensors } from '../src/loader/dummy/dummy-tensors.js';
import { loadWeights } from '../src/loader/load-weights.js';
import { weightBytes } from '../src/loader/weight-memory.js';
import { MiniMaxM3Model } from '../src/minimax-m3-model.js';
import { makeFolders } from './makers/folders.js';
import { makeModels } from './makers/models.js';
import { Session } from './makers/session.js';

/** The release at a size that a test can hold: its kinds of layers, real head and block sizes. */
const small = {
  hidden_size: 256,
  num_attention_heads: 8,
  intermediate_size: 128,
  shared_intermediate_size: 128,
  dense_intermediate_size: 512,
  vocab_size: 1024,
  num_local_experts: 8,
  max_position_embeddings: 4096,
};
const dummy = { loadFormat: 'dummy', directory: 'MiniMax-M3' } as const;

async function bytesOf(tensor: Tensor): Promise<Buffer> {
  const stream = tensor.device.runtime.currentStream();
  const bytes = new Uint8Array(tensor.bytes);
  const copy = stream.tensor([tensor.bytes], 'u8');
  stream.copy(copy, tensor);
  await stream.read(copy, bytes);
  return Buffer.from(bytes);
}

describe('the tensors of a dummy model', () => {
  it('are those of the release: names, number, bytes (model specification, 4.1)', () => {
    const mxfp8 = listDummyTensors(parseModelConfig(builtInConfig('MiniMax-M3')));
    const bf16 = listDummyTensors(parseModelConfig(builtInConfig('MiniMax-M3-BF16')));
    expect([bf16.length, mxfp8.length]).toEqual([22_893, 45_315]);
    const elements = (list: typeof bf16) =>
      list.reduce((sum, { shape }) => sum + shape.reduce((product, n) => product * n, 1), 0);
    expect(elements(bf16)).toBe(426_174_572_928);
    const { embedding, head, layers } = weightBytes(parseModelConfig(builtInConfig('MiniMax-M3')));
    const total = layers.reduce((sum, bytes) => sum + bytes, embedding + head);
    expect(total / 1e9).toBeCloseTo(442.01, 1);
    expect((layers[59] ?? 0) / 2 ** 30).toBeCloseTo(7.125, 2);
  });
});

onEachBackend((backend) => {
  const folder = makeFolders();
  const load = makeModels(backend);

  describe('the tensors of a dummy model', () => {
    it.each([false, true])(
      'are those that a checkpoint of the same config has (MXFP8: %s)',
      async (mxfp8) => {
        const directory = await folder({ model: 'T32', mxfp8 });
        const real = await load({ directory });
        const made = await load({ directory, loadFormat: 'dummy' });
        for (const fact of ['used', 'deviceBytes', 'storage', 'sharedExpertLayers'] as const) {
          expect(made.report[fact]).toEqual(real.report[fact]);
        }
        expect(made.report).toMatchObject({ files: 0, unused: [], conversions: [] });
      },
    );
  });

  describe('dummy weights', () => {
    const config = parseModelConfig(quantizedConfig(hashConfig('T32')));
    const weightsOf = async (seed: number) => {
      const runtime = await open({ backend, isolated: true });
      const source = new DummySource(config, seed);
      const { weights } = await loadWeights(source, { config, stream: runtime.currentStream() });
      await source.close();
      const moe = weights.layers.flatMap((layer) => layer.moe ?? []);
      const data = await Promise.all(moe.map(({ experts }) => bytesOf(experts.gateUp.data)));
      const scales = await Promise.all(
        moe.flatMap(({ experts }) => experts.gateUp.scales ?? []).map(bytesOf),
      );
      const norm = await bytesOf(weights.finalNorm);
      weights.dispose();
      await runtime.dispose();
      return { data, scales, norm };
    };
    let first: Awaited<ReturnType<typeof weightsOf>>;
    beforeAll(async () => {
      first = await weightsOf(1);
    });

    it('differ from layer to layer and from expert to expert', () => {
      const experts = first.data.flatMap((layer) => {
        const size = layer.length / 8;
        return Array.from({ length: 8 }, (_, e) => layer.subarray(e * size, (e + 1) * size));
      });
      expect(new Set(experts.map((bytes) => bytes.toString('base64'))).size).toBe(24);
    });

    it('are the same for the same seed, others for another', async () => {
      expect(await weightsOf(1)).toEqual(first);
      expect((await weightsOf(2)).data[0]).not.toEqual(first.data[0]);
    });

    it('are numbers: no E4M3 NaN, scales of two neighbouring sizes, norms within a quarter', () => {
      const elements = Buffer.concat(first.data);
      expect(elements.filter((byte) => (byte & 0x7f) === 0x7f)).toHaveLength(0);
      // Even steps over ±448 meet every element above 4, few below.
      expect(new Set(elements).size).toBeGreaterThan(70);
      // Gate and up of T32 reach 1 = 448 · 2^-9 at most: width 2, 127 - 9 and one less.
      expect([...new Set(Buffer.concat(first.scales))].sort()).toEqual([117, 118]);
      const norm = new Float32Array(new Uint8Array(first.norm).buffer);
      expect(Math.max(...norm.map(Math.abs))).toBeLessThanOrEqual(0.25);
      expect(new Set(norm).size).toBeGreaterThan(60);
    });

    it.each([1.5, Number.NaN, Infinity])('refuse the seed %s', (seed) => {
      expect(() => new DummySource(config, seed)).toThrow('expected a whole number');
    });
  });

  describe('a dummy model', () => {
    it('of 60 layers computes finite logits that differ by token and choose many experts', async () => {
      // One eager pass is more operations than a stream takes before it refuses.
      const cpu = { hangMs: 0 };
      const runtime = await open({ backend, isolated: true, maxPending: 8192, cpu });
      const model = await load({ ...dummy, runtime, overrides: small, dtype: 'bfloat16' });
      expect(model.config.layers).toHaveLength(60);
      const session = new Session(model, 1, 300);
      const chosen = new Map<number, Set<number>>();
      const tokens = Array.from({ length: 120 }, (_, i) => (i * 37) % 1024);
      const reads: Promise<void>[] = [];
      const [logits = []] = await session.run([{ sequence: 0, tokens }], {
        taps: {
          router: (layer, ids, _, stream) => {
            const kept = stream.tensor(ids.shape, 'i32');
            const host = new Int32Array(ids.elements);
            stream.copy(kept, ids);
            reads.push(stream.read(kept, host).then(() => void chosen.set(layer, new Set(host))));
          },
        },
      });
      await Promise.all(reads);
      for (const row of logits) expect(row.every(Number.isFinite)).toBe(true);
      const largest = logits.map((row) => Math.max(...row.map(Math.abs)));
      expect(Math.max(...largest)).toBeLessThan(100);
      expect(new Set(logits.map((row) => row.indexOf(Math.max(...row)))).size).toBeGreaterThan(5);
      for (const experts of chosen.values()) expect(experts.size).toBe(8);
    });

    it('says that its answers mean nothing, and how it was made', async () => {
      const overrides = { ...small, num_hidden_layers: 4 };
      const one = await load({ ...dummy, overrides, seed: 7 });
      expect(one.describe()).toMatchObject({
        loadFormat: 'dummy',
        outputs: 'mean nothing: the weights are random',
        weights: { dummy: { seed: 7 } },
        layers: { dense: 3, moe: 1 },
      });
      const tensorParallel = { rank: 1, size: 4 };
      const rank = await load({ ...dummy, overrides, tensorParallel });
      expect(rank.describe()).toMatchObject({
        outputs: 'mean nothing: the weights are random, and rank 1 of 4 runs without the others',
        tensorParallel: { rank: 1, size: 4, part: { expertColumns: [{ start: 32, count: 32 }] } },
      });
      const directory = await folder({ model: 'T32' });
      expect((await load({ directory })).describe()).toMatchObject({
        loadFormat: 'safetensors',
        outputs: 'of the checkpoint',
      });
    });

    it('needs nothing of a folder but its config', async () => {
      const directory = await mkdtemp(join(tmpdir(), 'config-only-'));
      await writeFile(join(directory, 'config.json'), JSON.stringify(hashConfig('T32')));
      const model = await load({ directory, loadFormat: 'dummy' });
      expect(model.report.storage).toMatchObject({ mxfp8: 0 });
      await expect(load({ directory })).rejects.toThrow('holds neither');
      await rm(directory, { recursive: true });
    });

    it('of an unknown name: the error has the built-in names; without `dummy` it says so', async () => {
      await expect(load({ ...dummy, directory: 'MiniMax-M4' })).rejects.toThrow(
        /cannot read `MiniMax-M4.config.json`.*built-in names MiniMax-M3, MiniMax-M3-BF16/,
      );
      await expect(load({ directory: 'MiniMax-M3' })).rejects.toThrow(
        /`loadFormat: 'dummy'` makes/,
      );
    });
  });
});

// A device as small as wanted is only the CPU's; a GPU that is too small has a stress test.
describe('weights that do not fit', () => {
  const load = makeModels('cpu');

  it('fail with what would: layers, or one of several ranks', async () => {
    const overrides = { ...small, num_hidden_layers: 12 };
    const whole = await load({ ...dummy, overrides });
    const limitBytes = Math.round(whole.report.deviceBytes / 2);
    const runtime = await open({ backend: 'cpu', isolated: true, cpu: { limitBytes } });
    const failed = MiniMaxM3Model.load({ ...dummy, runtime, overrides });
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'MODEL_MEMORY',
      facts: { layers: 12, freeBytes: limitBytes, ranksThatFit: 3 },
      message: expect.stringMatching(
        /^the weights take about [\d.]+ MiB.*has [\d.]+ MiB free; what would fit: the first \d+ of 12 layers \(num_hidden_layers\), or one rank of 3$/,
      ),
    });
    const { layersThatFit } = (error as { facts: { layersThatFit: number } }).facts;
    expect(layersThatFit).toBeGreaterThan(3);
    await runtime.dispose();
    const fitting = await load({
      ...dummy,
      overrides: { ...small, num_hidden_layers: layersThatFit },
    });
    const next = { ...small, num_hidden_layers: layersThatFit + 1 };
    const beyond = await load({ ...dummy, overrides: next });
    expect(fitting.report.deviceBytes).toBeLessThanOrEqual(limitBytes);
    expect(beyond.report.deviceBytes).toBeGreaterThan(limitBytes);
  });
});
