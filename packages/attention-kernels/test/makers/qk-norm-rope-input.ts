// Inputs of qkNormRope: on the host as [tokens, heads, dims], on the device fused or apart.
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { roundBf16, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { headsView, type QkNormRopeInput } from '../../src/index.js';
import type { QkNormRopeCase } from '../cases/qk-norm-rope.js';
import { freshSeed } from './fresh-seed.js';

/** One tensor of heads and its norm weight. */
export interface HostHeads {
  readonly name: 'q' | 'k' | 'v' | 'indexQ' | 'indexK';
  readonly heads: number;
  readonly dims: number;
  readonly x: Float32Array;
  readonly weight: Float32Array;
}

/** The tensors of a case in the order of a fused projection. */
export function makeHeads(spec: QkNormRopeCase): readonly HostHeads[] {
  const random = seededRandom(freshSeed);
  const values = (count: number, scale: number, dtype: 'bf16' | 'f32') => {
    const data = random.floats(count, scale);
    return dtype === 'bf16' ? data.map(roundBf16) : data;
  };
  const { heads, kvHeads, headDim, indexHeads, indexDim, positions } = spec;
  const all = [
    ['q', heads, headDim],
    ['k', kvHeads, headDim],
    ['v', kvHeads, headDim],
    ['indexQ', indexHeads, indexDim],
    ['indexK', indexHeads > 0 ? 1 : 0, indexDim],
  ] as const;
  return all
    .filter(([, count]) => count > 0)
    .map(([name, count, dims]) => ({
      name,
      heads: count,
      dims,
      x: values(positions.length * count * dims, 3, spec.dtype),
      weight: values(dims, 0.5, spec.weightDType),
    }));
}

/** Uploads them as views of one projection, or each by itself. */
export function uploadHeads(
  stream: Stream,
  spec: QkNormRopeCase,
  all: readonly HostHeads[],
): QkNormRopeInput & { readonly v: Tensor } {
  const tokens = spec.positions.length;
  const projection = spec.fused ? fuse(stream, spec, all) : undefined;
  const tensors: Partial<Record<string, Tensor>> = {};
  let start = 0;
  for (const { name, heads, dims, x, weight } of all) {
    tensors[name] = projection
      ? headsView(projection, { start, heads, headDim: dims })
      : upload(stream, x, [tokens, heads, dims], spec.dtype);
    tensors[`${name}Weight`] = upload(stream, weight, [dims], spec.weightDType);
    start += heads * dims;
  }
  const { q, k, v, vWeight: _none, ...rest } = tensors;
  if (!q || !k || !v) throw new Error('uploadHeads: q, k and v must be there');
  const positions = upload(stream, Int32Array.from(spec.positions), [tokens], 'i32');
  if (spec.normed !== false) return { q, k, v, ...rest, positions };
  return { q, k, v, indexQ: rest['indexQ'], indexK: rest['indexK'], positions };
}

function fuse(stream: Stream, spec: QkNormRopeCase, all: readonly HostHeads[]): Tensor {
  const tokens = spec.positions.length;
  const width = all.reduce((sum, { heads, dims }) => sum + heads * dims, 0);
  const data = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token += 1) {
    let start = token * width;
    for (const { heads, dims, x } of all) {
      data.set(x.subarray(token * heads * dims, (token + 1) * heads * dims), start);
      start += heads * dims;
    }
  }
  return upload(stream, data, [tokens, width], spec.dtype);
}
