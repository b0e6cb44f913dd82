import { type Stream, type Tensor, Workspace } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  downloadRaw,
  f32ToBf16,
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

const width = 480; // 8 heads of q, 2 of k, 2 of v, 2 of index q, 1 of index k, 32 wide each
const batch = makePagedBatch({
  ...{ ...t32, dtype: 'bf16' },
  sequences: [
    { context: 88, tokens: 2 },
    { context: 81, tokens: 1 },
  ],
});

/** The attention of a sparse layer for three tokens of two sequences, with a cache of its own. */
class LayerStep {
  readonly #tensors: ReturnType<typeof uploadBatch>;
  readonly #projection: Tensor;
  readonly #stream: Stream;
  readonly #allocator: Workspace;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#allocator = new Workspace(stream.device);
    this.#tensors = uploadBatch(stream, batch);
    this.#projection = upload(stream, new Float32Array(3 * width), [3, width], 'bf16');
  }

  /** New contents for the same tensors: what a graph's replay must see. */
  write(positions: readonly number[], seed: number): void {
    const slots = positions.map((position, token) => {
      const row = (batch.sequenceIds[token] ?? 0) * batch.maxPages;
      const page = batch.pageTable[row + Math.floor(position / 8)] ?? -1;
      return position < 0 ? -1 : page * 8 + (position % 8);
    });
    const values = f32ToBf16(seededRandom(seed).floats(3 * width));
    this.#stream.write(this.#tensors.positions, Int32Array.from(positions));
    this.#stream.write(this.#tensors.slots, Int32Array.from(slots));
    this.#stream.write(this.#projection, values);
  }

  enqueue(): Tensor {
    const options = { stream: this.#stream, allocator: this.#allocator };
    this.#allocator.reset();
    const heads = (start: number, count: number) =>
      headsView(this.#projection, { start, heads: count, headDim: 32 });
    const { positions } = this.#tensors;
    const index = { indexQ: heads(384, 2), indexK: heads(448, 1) };
    const projected = { q: heads(0, 8), k: heads(256, 2), ...index, positions };
    const rope = { ...options, rotaryDim: 16, theta: 5e6 };
    const { q, k, indexQ, indexK } = qkNormRope(projected, rope);
    if (!indexQ) throw new Error('no index q');
    kvWrite({ ...this.#tensors, k, v: heads(320, 2), indexK }, options);
    const blocks = selectBlocks({ ...this.#tensors, indexQ }, { ...options, topkBlocks: 4 });
    return sparseAttention({ ...this.#tensors, q, blocks }, options);
  }
}

describeEachBackend(
  'SGLang MSA under graphs (lengths and index q baked in): a replay has the bits of an eager step',
  [{ name: 'T32, two sequences' }],
  async ({ stream, device, runtime }) => {
    await loadAttentionKernels(runtime);
    const [captured, eager] = [new LayerStep(stream), new LayerStep(stream)];
    const outputs: Tensor[] = [];
    const record = () => {
      outputs.push(captured.enqueue());
    };
    const exec = await device.capture(record, { stream }).instantiate();
    const [out] = outputs;
    if (!out) throw new Error('nothing was recorded');
    const steps = [
      [2, 3, 0],
      [30, 31, 40],
      [31, 32, 41],
      [63, 64, 80],
      [86, 87, -1],
    ];
    const seen = new Set<string>();
    for (const [seed, positions] of steps.entries()) {
      captured.write(positions, seed);
      eager.write(positions, seed);
      exec.launch(stream);
      const replayed = Buffer.from(await downloadRaw(stream, out));
      const expected = await downloadRaw(stream, eager.enqueue());
      expect(replayed.equals(expected)).toBe(true);
      seen.add(replayed.toString('hex'));
    }
    expect(seen.size).toBe(steps.length);
    exec.dispose();
  },
);
