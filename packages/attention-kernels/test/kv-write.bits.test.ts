import { describeEachBackend, downloadRaw, seededRandom } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { kvWrite, loadAttentionKernels } from '../src/index.js';
import { freshSeed } from './makers/fresh-seed.js';

const cases = (['f32', 'bf16'] as const).flatMap((dtype) =>
  [1, 7, 16, 31, 64, 100, 129, 512].map((width) => ({ name: `${dtype}, ${width}`, dtype, width })),
);

// 40 tokens are several pieces of a thread, each with a first and a last token; some go nowhere.
const outside = new Map([
  [13, -1],
  [26, 48],
  [39, -7],
]);
const slots = Int32Array.from({ length: 40 }, (_, i) => outside.get(i) ?? 47 - i);

describeEachBackend(
  'kvWrite copies every bit, NaN payloads included, and nothing beside the slots',
  cases,
  async ({ stream, runtime }, { dtype, width }) => {
    await loadAttentionKernels(runtime);
    const random = seededRandom(freshSeed);
    const elementBytes = dtype === 'f32' ? 4 : 2;
    const rowBytes = width * elementBytes;
    const make = (rows: number) => {
      const bytes = Uint8Array.from({ length: rows * rowBytes }, () => random.integer(0, 256));
      const tensor = stream.tensor([rows, 1, width], dtype);
      stream.write(tensor, bytes);
      return { bytes, tensor };
    };
    const [k, v, indexK] = [make(40), make(40), make(40)];
    const caches = [make(48), make(48), make(48)];
    const [kCache, vCache, indexKeys] = caches.map(({ tensor }) => tensor.view([6, 8, 1, width]));
    if (!kCache || !vCache || !indexKeys) throw new Error('a cache is missing');
    const slotsTensor = stream.tensor([40], 'i32');
    stream.write(slotsTensor, slots);
    const index = { indexK: indexK.tensor, indexKeys: indexKeys.view([6, 8, width]) };
    const tensors = { k: k.tensor, v: v.tensor, slots: slotsTensor, kCache, vCache, ...index };
    kvWrite(tensors, { stream });
    for (const [i, rows] of [k, v, indexK].entries()) {
      const cache = caches[i];
      if (!cache) throw new Error('a cache is missing');
      const expected = cache.bytes.slice();
      for (const [token, slot] of slots.entries()) {
        if (slot < 0 || slot >= 48) continue;
        expected.set(
          rows.bytes.subarray(token * rowBytes, (token + 1) * rowBytes),
          slot * rowBytes,
        );
      }
      const actual = await downloadRaw(stream, cache.tensor);
      expect(Buffer.compare(actual, expected)).toBe(0);
    }
  },
);
