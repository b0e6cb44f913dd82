// The CPU backend's results do not depend on the number of threads that a loop is cut for.
import { open } from '@altstream/cuda-runtime';
import { downloadRaw, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import {
  add,
  embedding,
  loadDenseKernels,
  packMxfp8Scales,
  rmsNorm,
  sample,
  swigluOai,
  unpackMxfp8Scales,
} from '../src/index.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { makeRows, uploadRows } from './makers/sampling.js';

const settings = { temperature: 1, topK: 50, topP: 0.95, minP: 0.01 };
const rows = makeRows({ name: '', rows: 12, vocab: 3001, settings }, freshSeed);
const values = seededRandom(freshSeed).floats(17 * 6152, 3);

/**
 * Bytes of each operation's output with so many threads; sizes that are cut into several pieces.
 */
async function outputs(threads: number): Promise<Uint8Array[]> {
  const runtime = await open({ backend: 'cpu', isolated: true, cpu: { threads } });
  try {
    await loadDenseKernels(runtime);
    const stream = runtime.device().createStream();
    const x = upload(stream, values, [17, 6152], 'bf16');
    const weight = upload(stream, values.subarray(0, 6152), [6152], 'bf16');
    const normed = rmsNorm({ x, weight, residual: x }, { stream });
    const drawn = sample(uploadRows(stream, rows, 3001), { stream });
    const ids = upload(
      stream,
      Array.from({ length: 50 }, (_, i) => ((i * 7) % 19) - 1),
      [50],
      'i32',
    );
    const bytes = Uint8Array.from({ length: 1000 * 200 }, (_, i) => (i * 31) % 251);
    const packed = packMxfp8Scales(
      { scales: upload(stream, bytes, [1000, 200], 'e8m0') },
      { stream },
    );
    const made = [
      embedding({ table: x, ids }, { stream }),
      embedding({ table: x, ids }, { stream, outDType: 'f32' }),
      packed,
      unpackMxfp8Scales({ packed, rows: 1000, blocks: 200 }, { stream }),
      add({ a: x, b: x }, { stream }),
      normed.y,
      normed.residual,
      swigluOai({ gateUp: x }, { stream }),
      drawn.ids,
      drawn.logprobs,
    ];
    const contents: Uint8Array[] = [];
    for (const tensor of made) contents.push(await downloadRaw(stream, tensor));
    stream.dispose();
    return contents;
  } finally {
    await runtime.dispose();
  }
}

test('one, two and five threads give the same bits', async () => {
  const expected = await outputs(1);
  for (const threads of [2, 5]) {
    for (const [i, bytes] of (await outputs(threads)).entries()) {
      const same = Buffer.compare(bytes, expected[i] ?? Buffer.alloc(0)) === 0;
      expect(same, `output ${i} with ${threads} threads, ${seedNote}`).toBe(true);
    }
  }
});
