import { type Stream, Workspace } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  downloadRaw,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import {
  headsView,
  kvWrite,
  loadAttentionKernels,
  qkNormRope,
  selectBlocks,
  sparseAttention,
} from '../src/index.js';
import { uploadBatch } from './makers/device-batch.js';
import { makePagedBatch } from './makers/paged-batch.js';
import { t32 } from './makers/shapes.js';

const batch = makePagedBatch({
  ...{ ...t32, dtype: 'bf16' },
  sequences: [
    { context: 88, tokens: 1 },
    { context: 81, tokens: 1 },
  ],
});

/** A sparse layer's attention of one decode step, with a cache of its own. */
class DecodeStep {
  readonly tensors: ReturnType<typeof uploadBatch>;
  readonly #projected: Parameters<typeof qkNormRope>[0];
  readonly #v: ReturnType<typeof headsView>;
  readonly #stream: Stream;
  readonly #allocator: Workspace;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#allocator = new Workspace(stream.device);
    this.tensors = uploadBatch(stream, batch);
    const projection = upload(stream, seededRandom(8).floats(2 * 480), [2, 480], 'bf16');
    const heads = (start: number, count: number) =>
      headsView(projection, { start, heads: count, headDim: 32 });
    const { positions } = this.tensors;
    const index = { indexQ: heads(384, 2), indexK: heads(448, 1) };
    this.#projected = { q: heads(0, 8), k: heads(256, 2), ...index, positions };
    this.#v = heads(320, 2);
  }

  /** Places the tokens; the same tensors, new contents. */
  moveTo(places: readonly number[]): void {
    const slots = places.map((position, sequence) => {
      const page = batch.pageTable[sequence * batch.maxPages + Math.floor(position / 8)] ?? -1;
      return page * 8 + (position % 8);
    });
    this.#stream.write(this.tensors.positions, Int32Array.from(places));
    this.#stream.write(this.tensors.slots, Int32Array.from(slots));
  }

  enqueue() {
    const options = { stream: this.#stream, allocator: this.#allocator };
    this.#allocator.reset();
    const rope = { ...options, rotaryDim: 16, theta: 5e6 };
    const { q, k, indexQ, indexK } = qkNormRope(this.#projected, rope);
    if (!indexQ) throw new Error('no index q');
    kvWrite({ ...this.tensors, k, v: this.#v, indexK }, options);
    const blocks = selectBlocks({ ...this.tensors, indexQ }, { ...options, topkBlocks: 4 });
    return sparseAttention({ ...this.tensors, q, blocks }, options);
  }
}

describeEachBackend(
  'SGLang MSA decode: a captured step replayed at later positions has the bits of eager steps',
  [{ name: 'T32, two sequences' }],
  async ({ stream, device, runtime }) => {
    await loadAttentionKernels(runtime);
    const [captured, eager] = [new DecodeStep(stream), new DecodeStep(stream)];
    let out = captured.tensors.q;
    const record = () => {
      out = captured.enqueue();
    };
    const exec = await device.capture(record, { stream }).instantiate();
    const seen = new Set<string>();
    for (const places of [
      [3, 0],
      [31, 40],
      [32, 41],
      [64, 80],
      [87, -1],
    ]) {
      captured.moveTo(places);
      eager.moveTo(places);
      exec.launch(stream);
      const replayed = Buffer.from(await downloadRaw(stream, out));
      const expected = await downloadRaw(stream, eager.enqueue());
      expect(replayed.equals(expected)).toBe(true);
      seen.add(replayed.toString('hex'));
    }
    expect(seen.size).toBe(5);
    exec.dispose();
  },
);
