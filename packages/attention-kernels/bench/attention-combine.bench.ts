import { type BenchCase, runBench } from '@altstream/bench';
import { expectClose, upload } from '@altstream/cuda-runtime/testing';
import { attentionCombine } from '../src/attention-combine.js';
import { loadAttentionKernels } from '../src/index.js';
import { makePartials, partialsScale, piecesOf } from '../test/makers/partials.js';
import { readNumbers } from '../test/makers/read-numbers.js';
import { attentionTolerance } from '../test/makers/tolerances.js';

const sizes = [
  { tokens: 1, mostKeys: 2048 },
  { tokens: 1, mostKeys: 8192 },
  { tokens: 16, mostKeys: 2048 },
];

const cases = sizes.map(({ tokens, mostKeys }): BenchCase => {
  const testCase = {
    ...{ name: 'M3', heads: 64, headDim: 128, pieceKeys: 128, isCausal: false, mostKeys },
    positions: Array.from({ length: tokens }, () => mostKeys - 1),
  };
  const { heads, headDim } = testCase;
  const { partials, expected } = makePartials(testCase, 1);
  return {
    case: { tokens, heads, pieces: piecesOf(testCase) },
    bytes: partials.byteLength + 2 * expected.length,
    prepare: async (stream) => {
      const shape = [tokens, heads, piecesOf(testCase), headDim + 2];
      const input = {
        partials: upload(stream, partials, shape, 'f32'),
        positions: upload(stream, testCase.positions, [tokens], 'i32'),
        out: stream.tensor([tokens, heads * headDim], 'bf16'),
      };
      const options = { ...testCase, stream, scale: partialsScale };
      return {
        run: () => void attentionCombine(input, options),
        check: async () => {
          expectClose(await readNumbers(stream, input.out), expected, attentionTolerance.bf16);
        },
      };
    },
  };
});

const setting = { bench: 'attention-combine', from: import.meta.url, load: loadAttentionKernels };
await runBench(setting, cases);
