// Pieces of split rows, and what they make.
import { seededRandom } from '@altstream/cuda-runtime/testing';
import type { AttentionCombineCase } from '../cases/attention-combine.js';
import { type ReferencePiece, referenceCombine } from '../reference/attention-combine.js';

/** Multiplies the scores of the pieces. */
export const partialsScale = 0.125;

/** Pieces of a row in the tensor. */
export const piecesOf = ({ mostKeys, pieceKeys }: AttentionCombineCase) =>
  Math.ceil(mostKeys / pieceKeys);

/**
 * Random pieces, a quarter of them empty, and the rows that they make. NaN is where nobody may
 * look: behind the last piece of a row, and among the values of empty ones.
 */
export function makePartials(testCase: AttentionCombineCase, seed: number) {
  const { positions, heads, headDim, mostKeys, pieceKeys, isCausal } = testCase;
  const random = seededRandom(seed);
  const pieces = piecesOf(testCase);
  const width = headDim + 2;
  const partials = new Float32Array(positions.length * heads * pieces * width).fill(Number.NaN);
  const expected: number[] = [];
  for (let row = 0; row < positions.length * heads; row += 1) {
    const position = positions[Math.floor(row / heads)] ?? -1;
    const keys = position < 0 ? 0 : isCausal ? Math.min(position + 1, mostKeys) : mostKeys;
    const made: ReferencePiece[] = [];
    for (let piece = 0; piece < Math.ceil(keys / pieceKeys); piece += 1) {
      const start = (row * pieces + piece) * width;
      partials.set([Number.NEGATIVE_INFINITY, 0], start + headDim);
      if (random.integer(0, 4) === 0) continue;
      const values = random.floats(headDim, 20);
      const numbers = Float32Array.of(random.normal() * 40, random.uniform(1, 50));
      partials.set(values, start);
      partials.set(numbers, start + headDim);
      made.push({ values, largest: (numbers[0] ?? 0) * partialsScale, sum: numbers[1] ?? 0 });
    }
    expected.push(...referenceCombine(made, headDim));
  }
  return { partials, expected };
}
