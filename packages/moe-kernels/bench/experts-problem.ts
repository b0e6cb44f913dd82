// The shapes that all benches of the experts share.
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import {
  download,
  expectClose,
  f32ToE4m3,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import { type Permutation, permute, type RoutedExpertsWeights } from '../src/index.js';
import type { ExpertsCase } from '../test/cases/experts-gate-up.js';
import { makeIds } from '../test/cases/routing.js';
import { type ExpertsData, makeExperts, uploadExperts } from '../test/makers/experts.js';

/** The width of MiniMax-M3, 8 experts instead of 128, 4 per token. */
export const realWidth = { k: 4, experts: 8, hidden: 6144, intermediate: 3072 } as const;

/** Token counts of the benches. */
export const tokenCounts = [1, 4, 16, 64] as const;

/** MXFP8 weights and bf16 activations of the real width. */
function benchCase(tokens: number): ExpertsCase {
  return { name: 'bench', ...realWidth, tokens, weights: 'mxfp8', activations: 'bf16' };
}

const ids64 = makeIds({ ...realWidth, tokens: 64 });

/** Experts that the first `tokens` tokens use. */
export function activeExperts(tokens: number): number {
  return new Set(ids64.slice(0, tokens * realWidth.k)).size;
}

interface Shared {
  readonly data: ExpertsData;
  readonly weights: RoutedExpertsWeights;
}

let made: Shared | undefined;

/** The half gigabyte of weights is made and uploaded once for all cases. */
function shared(stream: Stream): Shared {
  if (made !== undefined) return made;
  const data = makeExperts(benchCase(64));
  for (const { data: codes } of [data.w13, data.w2]) fillLikeTrained(codes as Uint8Array);
  made = { data, weights: uploadExperts(stream, data) };
  return made;
}

/**
 * Codes of quantised normal numbers: the largest of 32 becomes 224 … 448, so sigma is about 150.
 * The test data has every code equally often, subnormals too, which decoders need not be fast for.
 */
function fillLikeTrained(codes: Uint8Array): void {
  const some = f32ToE4m3(seededRandom(3).floats(65_521, 150));
  for (let i = 0; i < codes.length; i += some.length) {
    codes.set(some.subarray(0, Math.min(some.length, codes.length - i)), i);
  }
}

/** Data of a case. */
export function prepareExperts(stream: Stream, tokens: number) {
  const { data, weights } = shared(stream);
  const { k, hidden, experts } = realWidth;
  const ids = upload(stream, ids64.slice(0, tokens * k), [tokens, k], 'i32');
  return {
    data,
    weights,
    ids,
    x: upload(stream, data.x.subarray(0, tokens * hidden), [tokens, hidden], 'bf16'),
    permutation: permute(ids, { numExperts: experts }, { stream }),
  };
}

/** Bytes of MXFP8 weights with their scales. */
export function mxfp8Bytes(elements: number): number {
  return elements + elements / 32;
}

/** Compares some elements of a bf16 tensor with float64 results; throws if one is off. */
export async function checkSome(
  stream: Stream,
  tensor: Tensor,
  reference: (row: number, column: number) => number,
  rows: number,
): Promise<void> {
  const values = (await download(stream, tensor)) as Float32Array;
  const columns = tensor.shape[1] ?? 1;
  const random = seededRandom(1);
  const [actual, expected]: [number[], number[]] = [[], []];
  for (let i = 0; i < 40; i += 1) {
    const [row, column] = [random.integer(0, rows), random.integer(0, columns)];
    actual.push(values[row * columns + column] ?? Number.NaN);
    expected.push(reference(row, column));
  }
  expectClose(actual, expected, { relative: 2 ** -8, absolute: 1e-3 });
}

/** Token · k + slot of each permuted row, and its expert. */
export async function readPermutation(stream: Stream, permutation: Permutation) {
  const rows = [...(await download(stream, permutation.rows))].map(Number);
  const offsets = [...(await download(stream, permutation.offsets))].map(Number);
  const expertOf = (row: number) => offsets.findIndex((first) => first > row) - 1;
  return { rows, expertOf };
}
