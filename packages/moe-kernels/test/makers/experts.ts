import type { Stream } from '@altstream/cuda-runtime';
import {
  bf16ToF32,
  f32ToBf16,
  roundBf16,
  seededRandom,
  upload,
} from '@altstream/cuda-runtime/testing';
import type { ExpertWeight, RoutedExpertsWeights, WeightFormat } from '../../src/index.js';
import type { ExpertsCase } from '../cases/experts-gate-up.js';
import { makeIds } from '../cases/routing.js';
import type { ReferenceWeights } from '../reference/experts-gate-up.js';
import { referenceDequantize } from '../reference/mxfp8.js';

/** Bits of a stacked weight [experts, rows, columns]. */
export interface WeightBits {
  readonly format: WeightFormat;
  readonly shape: readonly [number, number, number];
  readonly data: Uint8Array | Uint16Array | Float32Array;
  readonly scales?: Uint8Array;
}

/** A case's data: the same for the same case. */
export interface ExpertsData {
  readonly w13: WeightBits;
  readonly w2: WeightBits;
  readonly reference: ReferenceWeights;
  /** [tokens, hidden], already rounded to the activation type. */
  readonly x: Float32Array;
  readonly ids: readonly number[];
  readonly routerWeights: Float32Array;
  /** Rounds to the activation type. */
  readonly round: (value: number) => number;
}

/** Gate and up reach well beyond the clamp at 7. */
const spread = 4;

/** Makes the data of a case. */
export function makeExperts(testCase: ExpertsCase): ExpertsData {
  const { tokens, k, experts, hidden, intermediate, weights: format, activations } = testCase;
  const random = seededRandom(tokens * 1009 + hidden * 31 + intermediate + experts);
  const round = activations === 'bf16' ? roundBf16 : Math.fround;
  const w13 = makeWeight(format, [experts, 2 * intermediate, hidden], random);
  const w2 = makeWeight(format, [experts, hidden, intermediate], random);
  return {
    w13,
    w2,
    reference: {
      w13Row: rowsOf(w13),
      w2Row: rowsOf(w2),
      experts,
      hidden,
      intermediate,
    },
    x: random.floats(tokens * hidden).map(round),
    ids: makeIds(testCase),
    routerWeights: Float32Array.from({ length: tokens * k }, () => random.uniform(0, 2)),
    round,
  };
}

/** Uploads one weight; `scaleShift` is added to every scale byte. */
export function uploadWeight(stream: Stream, bits: WeightBits, scaleShift = 0): ExpertWeight {
  const [experts, rows, columns] = bits.shape;
  const dtype = bits.format === 'mxfp8' ? 'e4m3' : bits.format;
  const data = upload(stream, bits.data, bits.shape, dtype);
  if (bits.scales === undefined) return { data };
  const scales = bits.scales.map((scale) => scale + scaleShift);
  return { data, scales: upload(stream, scales, [experts, rows, columns / 32], 'e8m0') };
}

/** Uploads both weights. */
export function uploadExperts(
  stream: Stream,
  { w13, w2 }: Pick<ExpertsData, 'w13' | 'w2'>,
): RoutedExpertsWeights {
  return { w13: uploadWeight(stream, w13), w2: uploadWeight(stream, w2) };
}

/** Rows of a weight as exact numbers, each widened once. */
function rowsOf(bits: WeightBits): (expert: number, r: number) => Float32Array {
  const widened = new Map<number, Float32Array>();
  return (expert, r) => {
    const index = expert * bits.shape[1] + r;
    const row = widened.get(index) ?? widenRow(bits, index);
    widened.set(index, row);
    return row;
  };
}

function widenRow({ data, scales, shape }: WeightBits, index: number): Float32Array {
  const columns = shape[2];
  const [first, end] = [index * columns, (index + 1) * columns];
  const row = data.subarray(first, end);
  if (row instanceof Float32Array) return row;
  if (row instanceof Uint16Array) return bf16ToF32(row);
  return referenceDequantize(row, scales?.subarray(first / 32, end / 32) ?? new Uint8Array());
}

function makeWeight(
  format: WeightFormat,
  shape: readonly [number, number, number],
  random: ReturnType<typeof seededRandom>,
): WeightBits {
  const elements = shape[0] * shape[1] * shape[2];
  const size = spread / Math.sqrt(shape[2]);
  if (format === 'mxfp8') return { format, shape, ...makeMxfp8(elements, size, random) };
  const values = random.floats(elements, size);
  return { format, shape, data: format === 'bf16' ? f32ToBf16(values) : values };
}

/** Every finite E4M3 code, subnormals and both zeros among them, under scales of three sizes. */
function makeMxfp8(elements: number, size: number, random: ReturnType<typeof seededRandom>) {
  const codeRms = 128; // of all finite codes, about
  const middle = 127 + Math.round(Math.log2(size / codeRms));
  const codes = Uint8Array.from({ length: 65_521 }, () => finiteCode(random.integer(0, 256)));
  const data = new Uint8Array(elements);
  for (let i = 0; i < elements; i += codes.length) {
    data.set(codes.subarray(0, Math.min(codes.length, elements - i)), i);
  }
  const scales = Uint8Array.from({ length: elements / 32 }, () => middle + random.integer(-1, 2));
  return { data, scales };
}

function finiteCode(code: number): number {
  return (code & 0x7f) === 0x7f ? code - 1 : code;
}
