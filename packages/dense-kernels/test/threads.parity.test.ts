// The CPU backend's results do not depend on the number of threads that a loop is cut for.
import { open } from '@altstream/cuda-runtime';
import { downloadRaw, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { expect, test } from 'vitest';
import { add, loadDenseKernels, rmsNorm, sample, swigluOai } from '../src/index.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { makeRows, uploadRows } from './makers/sampling.js';

const settings = { temperature: 1, topK: 50, topP: 0.95, minP: 0.01 };
const rows = makeRows({ name: '', rows: 12, vocab: 3001, settings }, freshSeed);
const values = seededRandom(freshSeed).floats(17 * 6152, 3);

/** Bytes of each operation's output with so many threads; sizes that are cut into several pieces. */
async function outputs(threads: number): Promise<Uint8Array[]> {
  const runtime = await open({ backend: 'cpu', isolated: true, cpu: { threads } });
  try {
    await loadDenseKernels(runtime);
    const stream = runtime.device().createStream();
    const x = upload(stream, values, [17, 6152], 'bf16');
    const weight = upload(stream, values.subarray(0, 6152), [6152], 'bf16');
    const normed = rmsNorm({ x, weight, residual: x }, { stream });
    const drawn = sample(uploadRows(stream, rows, 3001), { stream });
    const made = [
      add({ a: x, b: x }, { stream }),
      normed.y,
      normed.residual,
      swigluOai({ gateUp: x }, { stream }),
      drawn.ids,
      drawn.logprobs,
    ];
    const bytes: Uint8Array[] = [];
    for (const tensor of made) bytes.push(await downloadRaw(stream, tensor));
    stream.dispose();
    return bytes;
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
