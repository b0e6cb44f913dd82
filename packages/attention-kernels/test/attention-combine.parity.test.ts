import { describeEachBackend, expectClose, poison, upload } from '@altstream/cuda-runtime/testing';
import { attentionCombine } from '../src/attention-combine.js';
import { loadAttentionKernels } from '../src/index.js';
import { attentionCombineCases } from './cases/attention-combine.js';
import { freshSeed, seedNote } from './makers/fresh-seed.js';
import { makePartials, partialsScale, piecesOf } from './makers/partials.js';
import { readNumbers } from './makers/read-numbers.js';
import { attentionTolerance } from './makers/tolerances.js';

describeEachBackend(
  'attentionCombine',
  attentionCombineCases,
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const { positions, heads, headDim } = testCase;
    const { partials, expected } = makePartials(testCase, freshSeed);
    const tokens = positions.length;
    const out = stream.tensor([tokens, heads * headDim], 'bf16');
    poison(stream, out);
    const shape = [tokens, heads, piecesOf(testCase), headDim + 2];
    const input = {
      partials: upload(stream, partials, shape, 'f32'),
      positions: upload(stream, Int32Array.from(positions), [tokens], 'i32'),
      out,
    };
    attentionCombine(input, { ...testCase, stream, scale: partialsScale });
    const tolerance = { ...attentionTolerance.bf16, message: seedNote };
    expectClose(await readNumbers(stream, out), expected, tolerance);
  },
);
