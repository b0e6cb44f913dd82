import { describeEachBackend, download, upload } from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { linear, loadDenseKernels } from '../src/index.js';

const columns = 96;
const one = 0x38;

/** Values that lose something in any format narrower than fp32. */
const values = [
  1 / 3,
  -2 / 3,
  1 + 2 ** -23,
  -(1 + 2 ** -8 + 2 ** -23),
  16_777_215,
  3.402_823_466_385_288_6e38,
  -0.1 * 2 ** -20,
  0,
];

/** Weights that copy column `output` of x into `output`. */
function identity(outputs: number): Uint8Array {
  const codes = new Uint8Array(outputs * columns);
  for (let output = 0; output < outputs; output += 1) codes[output * columns + output] = one;
  return codes;
}

describeEachBackend(
  'MXFP8 weights leave fp32 activations whole',
  [1, 7, 70].map((tokens) => ({ name: `${tokens} tokens`, tokens })),
  async ({ stream, runtime }, { tokens }) => {
    await loadDenseKernels(runtime);
    const x = Float32Array.from(
      { length: tokens * columns },
      (_, i) => values[(i + Math.floor(i / columns)) % values.length] ?? 0,
    );
    x[0] = Number.POSITIVE_INFINITY;
    if (tokens > 1) x[columns + 1] = Number.NaN;
    const weight = {
      data: upload(stream, identity(40), [40, columns], 'e4m3'),
      scales: upload(stream, new Uint8Array((40 * columns) / 32).fill(127), [40, 3], 'e8m0'),
    };
    const y = await download(
      stream,
      linear({ x: upload(stream, x, [tokens, columns], 'f32'), weight }, { stream }),
    );
    expect(y[0]).toBe(Number.POSITIVE_INFINITY);
    expect(y[1]).toBeNaN(); // infinity times zero
    for (let token = 2; token < tokens; token += 1) {
      expect(Array.from(y.subarray(token * 40, token * 40 + 40), Number)).toEqual(
        Array.from(x.subarray(token * columns, token * columns + 40), (v) => v + 0),
      );
    }
    if (tokens > 1) expect(y[40 + 1]).toBeNaN();
  },
);
