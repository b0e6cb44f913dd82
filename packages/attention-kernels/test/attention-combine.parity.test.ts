import {
  describeEachBackend,
  expectClose,
  poison,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { loadAttentionKernels } from '../src/index.js';
import { attentionKernel } from '../src/module.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { readNumbers } from './makers/read-numbers.js';
import { attentionTolerance } from './makers/tolerances.js';

const positions = [0, 127, 128, 4999, 5000, -1, 9999];
const scale = 0.125;

const cases = [
  { name: 'pieces of 128, to the position', pieceKeys: 128, isCausal: true },
  { name: 'pieces of 128, all', pieceKeys: 128, isCausal: false },
  { name: 'pieces of 2048, to the position', pieceKeys: 2048, isCausal: true },
].map((cut) => ({ ...cut, heads: 3, headDim: 64, mostKeys: 5001 }));

/** Pieces with NaN where the kernel must not look: behind the last, and values of empty ones. */
function makePartials({ heads, headDim, mostKeys, pieceKeys, isCausal }: (typeof cases)[number]) {
  const random = seededRandom(freshSeed);
  const pieces = Math.ceil(mostKeys / pieceKeys);
  const width = headDim + 2;
  const partials = new Float32Array(positions.length * heads * pieces * width).fill(Number.NaN);
  const expected = new Float32Array(positions.length * heads * headDim);
  for (let row = 0; row < positions.length * heads; row += 1) {
    const position = positions[Math.floor(row / heads)] ?? -1;
    const keys = position < 0 ? 0 : isCausal ? Math.min(position + 1, mostKeys) : mostKeys;
    const parts = Array.from({ length: Math.ceil(keys / pieceKeys) }, (_, piece) => {
      const isEmpty = random.integer(0, 4) === 0;
      const part = partials.subarray((row * pieces + piece) * width).subarray(0, width);
      part[headDim] = isEmpty ? Number.NEGATIVE_INFINITY : random.normal() * 40;
      part[headDim + 1] = isEmpty ? 0 : random.uniform(1, 50);
      if (!isEmpty) part.set(random.floats(headDim, 20));
      return { part, largest: (part[headDim] ?? 0) * scale, sum: part[headDim + 1] ?? 0 };
    }).filter(({ sum }) => sum > 0);
    const top = Math.max(...parts.map(({ largest }) => largest));
    const total = parts.reduce((s, { largest, sum }) => s + sum * Math.exp(largest - top), 0);
    for (let d = 0; d < headDim && parts.length > 0; d += 1) {
      const weighed = parts.map(({ part, largest }) => (part[d] ?? 0) * Math.exp(largest - top));
      expected[row * headDim + d] = weighed.reduce((a, b) => a + b, 0) / total;
    }
  }
  return { partials, expected, pieces };
}

describeEachBackend('attention_combine', cases, async ({ stream, runtime }, testCase) => {
  await loadAttentionKernels(runtime);
  const { heads, headDim, mostKeys, pieceKeys, isCausal } = testCase;
  const { partials, expected, pieces } = makePartials(testCase);
  const tokens = positions.length;
  const out = stream.tensor([tokens, heads, headDim], 'bf16');
  poison(stream, out);
  const kernel = attentionKernel(stream, 'attention_combine_bf16');
  stream.launch(
    kernel,
    { grid: [tokens, heads], block: [128] },
    {
      partials: upload(stream, partials, [tokens, heads, pieces, headDim + 2], 'f32'),
      positions: upload(stream, Int32Array.from(positions), [tokens], 'i32'),
      out,
      most_keys: mostKeys,
      tokens,
      heads,
      head_dim: headDim,
      pieces,
      piece_keys: pieceKeys,
      is_causal: Number(isCausal),
      scale,
    },
  );
  const tolerance = { ...attentionTolerance.bf16, message: seedNote };
  expectClose(await readNumbers(stream, out), expected, tolerance);
});
