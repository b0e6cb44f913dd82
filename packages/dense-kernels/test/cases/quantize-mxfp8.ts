import { bf16ToF32, f32ToBf16, seededRandom } from '@altstream/cuda-runtime/testing';
import type { Mxfp8ScaleMode } from '../../src/quantize-mxfp8.js';

/** Rows to quantise. */
export interface QuantizeCase {
  readonly name: string;
  readonly rows: number;
  readonly columns: number;
  readonly x: 'f32' | 'bf16';
  readonly scaleMode: Mxfp8ScaleMode;
  readonly infPolicy?: 'saturate' | 'nan';
  /** `special` mixes zero, subnormal, huge, NaN and infinite blocks in. */
  readonly values: 'normal' | 'wide' | 'special';
}

const modes: readonly Mxfp8ScaleMode[] = ['rceil', 'floor', 'ceil', 'even'];

/** All modes with all kinds of values. */
export const quantizeCases: readonly QuantizeCase[] = (['f32', 'bf16'] as const).flatMap((x) => [
  ...modes.flatMap((scaleMode) => [
    named({ rows: 33, columns: 96, x, scaleMode, values: 'normal' }),
    named({ rows: 64, columns: 512, x, scaleMode, values: 'wide' }),
    named({ rows: 40, columns: 64, x, scaleMode, values: 'special' }),
  ]),
  named({ rows: 40, columns: 64, x, scaleMode: 'rceil', values: 'special', infPolicy: 'nan' }),
  named({ rows: 1, columns: 6144, x, scaleMode: 'rceil', values: 'normal' }),
  named({ rows: 0, columns: 64, x, scaleMode: 'rceil', values: 'normal' }),
]);

function named(testCase: Omit<QuantizeCase, 'name'>): QuantizeCase {
  const { rows, columns, x, scaleMode, values, infPolicy = 'saturate' } = testCase;
  return {
    ...testCase,
    name: `${x} ${rows} x ${columns}, ${scaleMode}, ${values} values, infinities ${infPolicy}`,
  };
}

/** The values that the device is given. */
export function makeQuantizeData(testCase: QuantizeCase, seed: number): Float32Array {
  const random = seededRandom(seed);
  const values = random.floats(testCase.rows * testCase.columns, 1);
  for (let block = 0; block < values.length / 32; block += 1) {
    const part = values.subarray(block * 32, (block + 1) * 32);
    if (testCase.values === 'wide') scale(part, 2 ** random.integer(-140, 120));
    if (testCase.values === 'special') specials[block % specials.length]?.(part);
  }
  return testCase.x === 'bf16' ? bf16ToF32(f32ToBf16(values)) : values;
}

const specials: readonly ((block: Float32Array) => void)[] = [
  (block) => block.fill(0),
  (block) => block.fill(-0),
  (block) => scale(block, 2 ** -140),
  (block) => scale(block, 2 ** -128),
  (block) => scale(block, 2 ** 126),
  (block) => block.fill(Number.NaN, 7, 8),
  (block) => block.fill(Infinity, 31, 32),
  (block) => block.fill(-Infinity, 0, 1),
  (block) => block.set([Number.NaN, Infinity]),
  (block) => block.fill(3.4028234663852886e38, 3, 4),
];

function scale(block: Float32Array, factor: number): void {
  block.forEach((value, i) => {
    block[i] = value * factor;
  });
}
