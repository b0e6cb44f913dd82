// Byte vectors of the format, computed outside this repository's code: docs/quantize-mxfp8.md.

const f32Max448 = Math.fround(448 + 2 ** -15);

/** Largest magnitude → scale byte in the modes floor, ceil, even, rceil. */
export const scaleVectors: readonly (readonly [number, number, number, number, number])[] = [
  [0, 0, 0, 0, 0],
  [2 ** -149, 0, 0, 0, 0],
  [2 ** -119, 0, 0, 0, 0],
  [2 ** -118, 1, 1, 1, 1],
  [1e-30, 19, 20, 19, 19],
  [2 ** -9, 110, 110, 110, 110],
  [1, 119, 119, 119, 119],
  [1.75, 119, 120, 119, 119],
  [1.7500001, 119, 120, 119, 120],
  [240, 126, 127, 126, 127],
  [448, 127, 128, 127, 127],
  [f32Max448, 127, 128, 127, 128],
  [495.9, 127, 128, 127, 128],
  [496, 127, 128, 128, 128],
  [511.9, 127, 128, 128, 128],
  [512, 128, 128, 128, 128],
  [895.9, 128, 129, 128, 128],
  [896, 128, 129, 128, 128],
  [897, 128, 129, 128, 129],
  [57344, 134, 135, 134, 134],
  [65504, 134, 135, 135, 135],
  [3.3895313892515355e38, 246, 247, 247, 247],
  [Number.NaN, 255, 255, 255, 255],
];

/** Value → code at scale 127, that is with an unscaled 448 in the block. */
export const elementVectors: readonly (readonly [number, number])[] = [
  [2 ** -10, 0x00],
  [2 ** -10 * 1.0001, 0x01],
  [3 * 2 ** -10, 0x02],
  [2 ** -6, 0x08],
  [17, 0x58],
  [19, 0x5a],
  [20, 0x5a],
  [432, 0x7e],
  [448, 0x7e],
  [0, 0x00],
  [-0, 0x80],
  [-448, 0xfe],
];

/** Whole blocks, zeros behind: values → scale byte and leading codes (rceil). */
export const blockVectors: readonly {
  readonly values: readonly number[];
  readonly scale: number;
  readonly codes: readonly number[];
}[] = [
  { values: [1, -0.5, 0.3, 7], scale: 121, codes: [0x68, 0xe0, 0x5a, 0x7e] },
  { values: [449, 1, -3.3, 0.01], scale: 128, codes: [0x76, 0x30, 0xbd, 0x03] },
  { values: [Infinity, 1, -Infinity], scale: 254, codes: [0x7e, 0x00, 0xfe] },
  { values: [Number.NaN, 1, -2], scale: 255, codes: [0x7f, 0x7f, 0x7f] },
  { values: [2 ** -149, -(2 ** -127)], scale: 0, codes: [0x00, 0xb8] },
  { values: [2 ** -127, 2 ** -136, 2 ** -137], scale: 0, codes: [0x38, 0x01, 0x00] },
];

/** Code and scale byte → value. */
export const valueVectors: readonly (readonly [code: number, scale: number, value: number])[] = [
  [0x38, 127, 1],
  [0x7e, 120, 3.5],
  [0xb8, 130, -8],
  [0x01, 127, 0.001953125],
  [0x38, 0, 2 ** -127],
  [0x01, 0, 2 ** -136],
  [0x7e, 254, Infinity],
  [0xfe, 254, -Infinity],
  [0x7e, 246, 448 * 2 ** 119],
  [0x7f, 127, Number.NaN],
  [0xff, 127, Number.NaN],
  [0x00, 255, Number.NaN],
];

/** Scale (row, block) of 8 blocks a row → byte in the tiles. */
export const tileVectors: readonly (readonly [row: number, block: number, offset: number])[] = [
  [0, 0, 0],
  [0, 3, 3],
  [0, 4, 512],
  [1, 0, 16],
  [31, 0, 496],
  [32, 0, 4],
  [33, 1, 21],
  [127, 3, 511],
  [128, 0, 1024],
  [128, 5, 1537],
];
