// Linears of MiniMax-M3's sizes. With few tokens the floor is reading the weights once; from a few
// dozen tokens on it is arithmetic, which the floor does not show. On a GPU several copies of the
// weight are used in turn, so that they come from memory and not from the L2.
import { type BenchCase, readCeiling, runBench } from '@altstream/bench';
import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { download, f32ToBf16, seededRandom, upload } from '@altstream/cuda-runtime/testing';
import { linear, loadDenseKernels } from '../src/index.js';
import type { LinearWeightKind } from '../src/linear.weight.js';
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
const rank = { in: 6144, out: 1536 }; // gate and up of a shared expert, one of four ranks
const onGpu = process.argv.includes('cuda');
const cases: readonly Values[] = [
  ...[1, 4, 16, 64, 256].map(
    (tokens) => ({ weight: 'mxfp8', x: 'bf16', tokens, ...wide }) as const,
  ),
  ...[1, 4, 16, 64, 256].map((tokens) => ({ weight: 'bf16', x: 'bf16', tokens, ...wide }) as const),
  ...[1, 16].map((tokens) => ({ weight: 'mxfp8', x: 'f32', tokens, ...wide }) as const),
  ...[1, 64].map((tokens) => ({ weight: 'f32', x: 'bf16', tokens, in: 6144, out: 128 }) as const),
  ...(onGpu ? gpuCases() : []),
];
const weightBytes = { mxfp8: 1 + 1 / 32, bf16: 2, f32: 4 };
const turnedBytes = 512 * 2 ** 20; // of all copies of a weight on a GPU: more than any L2
const patternBlocks = 8191; // prime, so that rows differ

function gpuCases(): readonly Values[] {
  const common = { weight: 'mxfp8', x: 'bf16' } as const;
  return [
    ...[2, 8, 32, 128, 1024, 4096].map((tokens) => ({ ...common, tokens, ...wide })),
    ...[1024, 4096].map((tokens) => ({ weight: 'bf16', x: 'bf16', tokens, ...wide }) as const),
    ...[1, 16, 64].map((tokens) => ({ ...common, tokens, ...rank })),
    ...[8, 1024].map(
      (tokens) => ({ ...common, weight: 'f32', tokens, in: 6144, out: 128 }) as const,
    ),
  ];
}

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
      const { weights, exact } = weightOf(stream, weight, [out, columns]);
      const placedX = upload(stream, activations, [tokens, columns], x);
      const y = stream.tensor([tokens, out], x);
      let call = 0;
      return {
        run: () => {
          const stored = weights[call % weights.length];
          call += 1;
          if (stored) linear({ x: placedX, weight: stored }, { stream, out: y });
        },
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

interface StoredWeight {
  readonly data: Tensor;
  readonly scales?: Tensor;
}

interface PlacedWeight {
  /** The same weight, on a GPU several times. */
  readonly weights: readonly StoredWeight[];
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
    const weight = {
      data: upload(stream, repeat(data, new Uint8Array(elements)), shape, 'e4m3'),
      scales: upload(stream, repeat(scales, new Uint8Array(elements / 32)), blocks, 'e8m0'),
    };
    return { weights: copiesOf(stream, weight), exact: referenceDequantize({ data, scales }) };
  }
  const whole =
    kind === 'bf16'
      ? repeat(f32ToBf16(pattern), new Uint16Array(elements))
      : repeat(pattern, new Float32Array(elements));
  const weights = copiesOf(stream, { data: upload(stream, whole, shape, kind) });
  return { weights, exact: roundTo(pattern, kind) };
}

function copiesOf(stream: Stream, weight: StoredWeight): readonly StoredWeight[] {
  if (stream.device.runtime.backend === 'cpu') return [weight];
  const copy = (tensor: Tensor): Tensor => {
    const to = stream.tensor(tensor.shape, tensor.dtype);
    stream.copy(to, tensor);
    return to;
  };
  const more = Math.ceil(turnedBytes / weight.data.bytes) - 1;
  const copies = Array.from({ length: more }, () => ({
    data: copy(weight.data),
    ...(weight.scales && { scales: copy(weight.scales) }),
  }));
  return [weight, ...copies];
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
