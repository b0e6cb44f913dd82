import { describeEachBackend, downloadRaw, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadMoeKernels } from '../src/index.js';
import { moeKernel } from '../src/module.js';

/** Columns that a lane holds of a group of `group`, as the products of warpgroups take them. */
const cases = [
  { name: 'mxfp8, one row', format: 'mxfp8', rows: 1, columns: 64, group: 64, lane: 16 },
  { name: 'mxfp8, 37 rows', format: 'mxfp8', rows: 37, columns: 192, group: 64, lane: 16 },
  { name: 'mxfp8, many rows', format: 'mxfp8', rows: 600, columns: 512, group: 64, lane: 16 },
  { name: 'bf16, one row', format: 'bf16', rows: 1, columns: 64, group: 32, lane: 8 },
  { name: 'bf16, 37 rows', format: 'bf16', rows: 37, columns: 192, group: 32, lane: 8 },
] as const;

/** Column of x at place `at` of a packed row: words of two columns, one of each lane in turn. */
function columnAt(at: number, group: number, lane: number): number {
  const word = Math.floor((at % group) / 2);
  return at - (at % group) + (word % 4) * lane + Math.floor(word / 4) * 2 + (at % 2);
}

describeEachBackend('rows in the order of warpgroups', cases, async (context, testCase) => {
  const { stream, runtime } = context;
  const { format, rows, columns, group, lane } = testCase;
  await loadMoeKernels(runtime);
  const bits = Uint16Array.from({ length: rows * columns }, (_, i) => (i * 40503) % 65521);
  const x = upload(stream, bits, [rows, columns], 'bf16');
  const packed = stream.tensor([rows * columns * 2], 'u8');
  stream.fill(packed, 0xff);
  stream.launch(
    moeKernel(stream, `experts_pack_${format}`),
    { grid: [3], block: [256] },
    { x, packed, chunks: (rows * columns) / 8 },
  );
  const bytes = await downloadRaw(stream, packed);
  const found = new Uint16Array(bytes.buffer, bytes.byteOffset, rows * columns);
  const expected = bits.map((_, i) => {
    const at = i % columns;
    return bits[i - at + columnAt(at, group, lane)] ?? 0;
  });
  expect(found).toEqual(expected);
});
