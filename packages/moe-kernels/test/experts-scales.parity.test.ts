import { describeEachBackend, download, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import type { TensorCorePath } from '../src/experts/experts.shape.js';
import { expertsDown, loadMoeKernels } from '../src/index.js';
import { pathsFor } from './makers/paths.js';

const [one, minusOne, smallest, notANumber] = [0x38, 0xb8, 0x01, 0x7f]; // E4M3 codes; smallest = 2^-9

interface ScalesCase {
  readonly name: string;
  readonly activations: 'bf16' | 'f32';
  readonly path?: TensorCorePath;
  readonly first: number;
  readonly columns: number;
  /** The one column that is not zero; default 3. */
  readonly at?: number;
}

// AVX-512 takes subnormal bf16 as 0, so those are left out.
const cases: readonly ScalesCase[] = [
  { name: 'f32 activations', activations: 'f32', first: 0, columns: 32 },
  { name: 'bf16 activations', activations: 'bf16', path: 'stream', first: 1, columns: 128 },
  { name: 'rows too short for a ring', activations: 'bf16', path: 'stream', first: 1, columns: 32 },
  { name: 'shared row tiles', activations: 'bf16', path: 'stream', first: 1, columns: 4096 },
  { name: 'bf16 activations, tiles', activations: 'bf16', path: 'tiled', first: 1, columns: 32 },
  { name: 'warpgroups', activations: 'bf16', path: 'wgmma', first: 1, columns: 320 },
  // Another lane, stage and slice.
  ...[70, 157, 255, 256, 300, 319].map((at) => ({
    name: `warpgroups, column ${at}`,
    ...{ activations: 'bf16' as const, path: 'wgmma' as const, first: 1, columns: 320, at },
  })),
];

describeEachBackend(
  'every E8M0 scale and NaN code is exact with',
  cases,
  async ({ stream, runtime }, { activations, path, first, columns, at = 3 }) => {
    await loadMoeKernels(runtime);
    const permutation = {
      offsets: upload(stream, [0, 1], [2], 'i32'),
      rows: upload(stream, [0], [1], 'i32'),
      slots: upload(stream, [0], [1, 1], 'i32'),
    };
    const y = upload(
      stream,
      Float32Array.from({ length: columns }, (_, c) => (c === at ? 1 : 0)),
      [1, columns],
      activations,
    );
    // Row r has scale r; only one column counts.
    const rows = 256;
    const run = async (code: number) => {
      const codes = new Uint8Array(rows * columns);
      for (let r = 0; r < rows; r += 1) codes[r * columns + at] = code;
      const blocks = columns / 32;
      const scales = Uint8Array.from({ length: rows * blocks }, (_, i) => Math.floor(i / blocks));
      const w2 = {
        data: upload(stream, codes, [1, rows, columns], 'e4m3'),
        scales: upload(stream, scales, [1, rows, blocks], 'e8m0'),
      };
      // Where a device has no such path, its own choice takes these cases once more.
      const isThere = path && pathsFor(stream.device, columns).includes(path);
      const options = isThere ? { stream, path } : { stream };
      return [...(await download(stream, expertsDown({ y, w2, permutation }, options)))].map(
        Number,
      );
    };
    const scaled = (value: number, from: number) =>
      Array.from({ length: rows - from }, (_, i) =>
        from + i === 255 ? Number.NaN : value * 2 ** (from + i - 127),
      );
    expect((await run(one)).slice(first)).toEqual(scaled(1, first));
    expect((await run(minusOne)).slice(first)).toEqual(scaled(-1, first));
    const normal = first === 0 ? 0 : 10; // 2^-9 times a scale below 10 is subnormal
    expect((await run(smallest)).slice(normal)).toEqual(scaled(2 ** -9, normal));
    expect((await run(notANumber)).every(Number.isNaN)).toBe(true);
  },
);
