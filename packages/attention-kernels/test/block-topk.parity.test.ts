import { describeEachBackend, poison, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { blockTopk, loadAttentionKernels } from '../src/index.js';
import { type BlockTopkCase, blockTopkCases } from './cases/block-topk.js';
import { readNumbers } from './makers/read-numbers.js';
import { referenceBlockTopk } from './reference/block-topk.js';

const specialScores = [Number.NaN, Infinity, -Infinity, 0, -0, 1, 1, -1, 3e38];

const floatOf = (bits: number) => new Float32Array(Uint32Array.of(bits).buffer)[0] ?? 0;

function makeScores({ scores, positions, indexHeads, maxPages }: BlockTopkCase): Float32Array {
  const random = seededRandom(9);
  const score = (i: number) => {
    if (scores === 'equal') return 1.5;
    if (scores === 'few values') return random.integer(0, 3);
    if (scores === 'special') return specialScores[random.integer(0, specialScores.length)] ?? 0;
    if (scores === 'any bits') return floatOf(random.integer(0, 2 ** 32));
    if (scores === 'mostly lowest') {
      return random.integer(0, 16) === 0 ? random.normal() : (specialScores[i % 2 ? 0 : 2] ?? 0);
    }
    if (scores === 'rising') return i % maxPages;
    if (scores === 'falling') return -(i % maxPages);
    return random.normal();
  };
  return Float32Array.from({ length: positions.length * indexHeads * maxPages }, (_, i) =>
    score(i),
  );
}

describeEachBackend('blockTopk', blockTopkCases, async ({ stream, runtime }, testCase) => {
  await loadAttentionKernels(runtime);
  const { indexHeads, maxPages, topkBlocks } = testCase;
  const positions = Int32Array.from(testCase.positions);
  const data = makeScores(testCase);
  const scores = upload(stream, data, [positions.length, indexHeads, maxPages], 'f32');
  const out = stream.tensor([indexHeads, positions.length, topkBlocks], 'i32');
  poison(stream, out);
  const places = { scores, positions: upload(stream, positions, [positions.length], 'i32') };
  blockTopk(places, { ...testCase, stream, out });
  const expected = referenceBlockTopk({ ...testCase, scores: data, positions });
  expect(Array.from(await readNumbers(stream, out))).toEqual(Array.from(expected));
});

const layoutCases = [{ name: 'two heads, three tokens' }];

describeEachBackend(
  'vllm#48929, #48603, TRT-LLM#17285, #16291: the selection is [group, token, k], not token-major',
  layoutCases,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const wanted = [
      [1, 2],
      [3, 4],
      [5, 6],
    ]; // wanted[token][head] gets the best score
    const data = new Float32Array(3 * 2 * 9);
    for (const [token, heads] of wanted.entries()) {
      for (const [head, block] of heads.entries()) data[(token * 2 + head) * 9 + block] = 5;
    }
    const blocks = blockTopk(
      {
        scores: upload(stream, data, [3, 2, 9], 'f32'),
        positions: upload(stream, [71, 71, 71], [3], 'i32'),
      },
      { stream, pageTokens: 8, topkBlocks: 2 },
    );
    expect(blocks.shape).toEqual([2, 3, 2]);
    const expected = [1, 8, 3, 8, 5, 8, 2, 8, 4, 8, 6, 8];
    expect(Array.from(await readNumbers(stream, blocks))).toEqual(expected);
  },
);
