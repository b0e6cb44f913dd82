// Linears of MiniMax-M3's sizes. With few tokens the floor is reading the weights once; from a few
// dozen tokens on it is arithmetic, which the floor does not show.
import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { download, f32ToBf16, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { linear, loadDenseKernels } from '../src/index.js';
import type { LinearWeightKind } from '../src/linear-weight.js';
import { roundTo } from '../test/makers/round-to.js';
import { linearInside, roundingOf } from '../test/makers/tolerance.js';
import { referenceDequantize } from '../test/reference/dequantize-mxfp8.js';
import { referenceQuantize } from '../test/reference/quantize-mxfp8.js';

interface Values {
  readonly weight: LinearWeightKind;
  readonly x: 'f32' | 'bf16';
  readonly tokens: number;
  readonly in: number;
  readonly out: number;
}

type Shape = readonly [out: number, columns: number];

const wide = { in: 6144, out: 6144 };
const cases: readonly Values[] = [
  ...[1, 4, 16, 64, 256].map(
    (tokens) => ({ weight: 'mxfp8', x: 'bf16', tokens, ...wide }) as const,
  ),
  ...[1, 4, 16, 64, 256].map((tokens) => ({ weight: 'bf16', x: 'bf16', tokens, ...wide }) as const),
  ...[1, 16].map((tokens) => ({ weight: 'mxfp8', x: 'f32', tokens, ...wide }) as const),
  ...[1, 64].map((tokens) => ({ weight: 'f32', x: 'bf16', tokens, in: 6144, out: 128 }) as const),
];
const weightBytes = { mxfp8: 1 + 1 / 32, bf16: 2, f32: 4 };
const patternBlocks = 8191; // prime, so that rows differ

function makeCase(values: Values): BenchCase {
  const { weight, x, tokens, out } = values;
  const columns = values.in;
  return {
    case: { ...values },
    bytes: columns * out * weightBytes[weight] + tokens * (columns + out) * (x === 'bf16' ? 2 : 4),
    flops: 2 * tokens * columns * out,
    prepare: async (stream) => {
      const random = seededRandom(1);
      const activations = roundTo(random.floats(tokens * columns), x);
      const { weight: stored, exact } = weightOf(stream, weight, [out, columns]);
      const input = { x: upload(stream, activations, [tokens, columns], x), weight: stored };
      const y = stream.tensor([tokens, out], x);
      return {
        run: () => void linear(input, { stream, out: y }),
        check: async () => {
          const got = (await download(stream, y)) as Float32Array;
          const allowed = linearInside(columns) + roundingOf(x);
          for (const [token, output] of samples(tokens, out)) {
            const row = activations.subarray(token * columns, (token + 1) * columns);
            const error = errorOf(got[token * out + output], row, exact, output * columns);
            if (error <= allowed) continue;
            throw new Error(`y[${token}, ${output}] is off by ${error}, allowed ${allowed}`);
          }
        },
      };
    },
  };
}

interface PlacedWeight {
  readonly weight: { readonly data: Tensor; readonly scales?: Tensor };
  /** The pattern that it repeats. */
  readonly exact: Float64Array | Float32Array;
}

const placed = new Map<string, PlacedWeight>();

/** The weight of a kind and shape; the cases with other token counts share it. */
function weightOf(stream: Stream, kind: LinearWeightKind, shape: Shape): PlacedWeight {
  const key = `${kind} ${shape}`;
  const found = placed.get(key) ?? placeWeight(stream, kind, shape);
  placed.set(key, found);
  return found;
}

/** Repeats a pattern of blocks: making tens of millions of random numbers takes too long. */
function placeWeight(stream: Stream, kind: LinearWeightKind, shape: Shape): PlacedWeight {
  const pattern = seededRandom(3).floats(patternBlocks * 32, 0.02);
  const elements = shape[0] * shape[1];
  if (kind === 'mxfp8') {
    const { data, scales } = referenceQuantize(pattern);
    const blocks = [shape[0], shape[1] / 32];
    return {
      weight: {
        data: upload(stream, repeat(data, new Uint8Array(elements)), shape, 'e4m3'),
        scales: upload(stream, repeat(scales, new Uint8Array(elements / 32)), blocks, 'e8m0'),
      },
      exact: referenceDequantize({ data, scales }),
    };
  }
  const whole =
    kind === 'bf16'
      ? repeat(f32ToBf16(pattern), new Uint16Array(elements))
      : repeat(pattern, new Float32Array(elements));
  return { weight: { data: upload(stream, whole, shape, kind) }, exact: roundTo(pattern, kind) };
}

function repeat<T extends Uint8Array | Uint16Array | Float32Array>(pattern: T, whole: T): T {
  for (let at = 0; at < whole.length; at += pattern.length) {
    whole.set(pattern.subarray(0, whole.length - at), at);
  }
  return whole;
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

const setting = {
  bench: 'linear',
  from: import.meta.url,
  load: loadDenseKernels,
  ceiling: readCeiling,
};
await runBench(setting, cases.map(makeCase));
