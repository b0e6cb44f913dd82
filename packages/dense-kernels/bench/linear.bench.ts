// Linears of MiniMax-M3's sizes. With few tokens the floor is reading the weights once; from a few
// dozen tokens on it is arithmetic, which the floor does not show.
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { download, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { linear } from '../src/index.js';
import type { LinearWeightKind } from '../src/linear-weight.js';
import { roundTo } from '../test/makers/round-to.js';
import { linearInside, roundingOf } from '../test/makers/tolerance.js';
import { referenceDequantize } from '../test/reference/dequantize-mxfp8.js';
import { referenceQuantize } from '../test/reference/quantize-mxfp8.js';
import { readCeiling } from './read-bandwidth.js';
import { type BenchCase, runBench } from './run-bench.js';

interface Values {
  readonly weight: LinearWeightKind;
  readonly x: 'f32' | 'bf16';
  readonly tokens: number;
  readonly in: number;
  readonly out: number;
}

const wide = { in: 6144, out: 12288 };
const cases: readonly Values[] = [
  ...[1, 4, 16, 64, 256].map(
    (tokens) => ({ weight: 'mxfp8', x: 'bf16', tokens, ...wide }) as const,
  ),
  ...[1, 4, 16, 64, 256].map((tokens) => ({ weight: 'bf16', x: 'bf16', tokens, ...wide }) as const),
  ...[1, 16].map((tokens) => ({ weight: 'mxfp8', x: 'f32', tokens, ...wide }) as const),
  ...[1, 64].map((tokens) => ({ weight: 'f32', x: 'bf16', tokens, in: 6144, out: 128 }) as const),
];
const weightBytes = { mxfp8: 1 + 1 / 32, bf16: 2, f32: 4 };
const patternBlocks = 32_749; // prime, so that rows differ

function makeCase(values: Values): BenchCase {
  const { weight, x, tokens, out } = values;
  const columns = values.in;
  return {
    case: { ...values },
    bytes: columns * out * weightBytes[weight] + tokens * (columns + out) * (x === 'bf16' ? 2 : 4),
    prepare: async (stream) => {
      const random = seededRandom(1);
      const activations = roundTo(random.floats(tokens * columns), x);
      const pattern = random.floats(patternBlocks * 32, 0.02);
      const placed = placeWeight(stream, weight, pattern, [out, columns]);
      const input = { x: upload(stream, activations, [tokens, columns], x), weight: placed.weight };
      const y = stream.tensor([tokens, out], x);
      return {
        run: () => void linear(input, { stream, out: y }),
        isRight: async () => {
          const got = (await download(stream, y)) as Float32Array;
          return samples(tokens, out).every(([token, output]) => {
            const row = activations.subarray(token * columns, (token + 1) * columns);
            const error = errorOf(got[token * out + output], row, placed.exact, output * columns);
            return error <= linearInside(columns) + roundingOf(x);
          });
        },
      };
    },
  };
}

/** A weight that repeats a pattern of blocks; making 75 million random numbers takes too long. */
function placeWeight(
  stream: Stream,
  kind: LinearWeightKind,
  pattern: Float32Array,
  shape: readonly [number, number],
): { weight: { data: Tensor; scales?: Tensor }; exact: Float64Array | Float32Array } {
  const elements = shape[0] * shape[1];
  if (kind === 'mxfp8') {
    const { data, scales } = referenceQuantize(pattern);
    const codes = Uint8Array.from({ length: elements }, (_, i) => data[i % data.length] ?? 0);
    const bytes = Uint8Array.from(
      { length: elements / 32 },
      (_, i) => scales[i % scales.length] ?? 0,
    );
    const blocks = [shape[0], shape[1] / 32];
    return {
      weight: {
        data: upload(stream, codes, shape, 'e4m3'),
        scales: upload(stream, bytes, blocks, 'e8m0'),
      },
      exact: referenceDequantize({ data, scales }),
    };
  }
  const exact = roundTo(pattern, kind);
  const whole = Float32Array.from({ length: elements }, (_, i) => exact[i % exact.length] ?? 0);
  return { weight: { data: upload(stream, whole, shape, kind) }, exact };
}

/** Results to check: corners and a few in between. */
function samples(tokens: number, out: number): readonly (readonly [number, number])[] {
  const random = seededRandom(2);
  const inner = Array.from({ length: 60 }, () => [
    random.integer(0, tokens),
    random.integer(0, out),
  ]);
  return [[0, 0], [tokens - 1, out - 1], ...inner] as [number, number][];
}

/** Error of one result, relative to the sum of the magnitudes of its terms. */
function errorOf(
  got: number | undefined,
  row: Float32Array,
  exact: Float64Array | Float32Array,
  first: number,
): number {
  let [sum, size] = [0, 0];
  for (let k = 0; k < row.length; k += 1) {
    const term = (row[k] ?? 0) * (exact[(first + k) % exact.length] ?? 0);
    sum += term;
    size += Math.abs(term);
  }
  return Math.abs((got ?? Number.NaN) - sum) / size;
}

await runBench('linear', cases.map(makeCase), readCeiling);
