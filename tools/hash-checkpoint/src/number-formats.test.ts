import { describe, expect, it } from 'vitest';
import { quantizeMxfp8, rceilScale, toBf16, toE4m3 } from './number-formats.js';

describe('toE4m3', () => {
  it.each([
    [2 ** -10, 0x00],
    [2 ** -10 * 1.0001, 0x01],
    [3 * 2 ** -10, 0x02],
    [2 ** -6, 0x08],
    [2 ** -6 * 0.99, 0x08],
    [17, 0x58],
    [19, 0x5a],
    [20, 0x5a],
    [432, 0x7e],
    [448, 0x7e],
    [480, 0x7e],
    [1e9, 0x7e],
    [-1e9, 0xfe],
    [-0, 0x80],
    [Number.POSITIVE_INFINITY, 0x7e],
    [Number.NaN, 0x7f],
  ])('rounds %d to nearest even and saturates', (value, byte) => {
    expect(toE4m3(value)).toBe(byte);
  });
});

describe('rceilScale', () => {
  it.each([
    [0, 0],
    [2 ** -149, 0],
    [2 ** -118, 1],
    [1e-30, 19],
    [2 ** -9, 110],
    [1.75, 119],
    [1.7500001, 120],
    [240, 127],
    [448, 127],
    [448.00003, 128],
    [897, 129],
    [65504, 135],
    [3.3895e38, 247],
    [Number.POSITIVE_INFINITY, 254],
    [Number.NaN, 255],
  ])('gives the smallest scale under which %d does not saturate', (amax, byte) => {
    expect(rceilScale(Math.fround(amax))).toBe(byte);
  });
});

describe('quantizeMxfp8', () => {
  it.each([
    [[1, -0.5, 0.3, 7], 121, [0x68, 0xe0, 0x5a, 0x7e]],
    [[449, 1, -3.3, 0.01], 128, [0x76, 0x30, 0xbd, 0x03]],
  ])('has the bytes of the specification for %j', (head, scale, bytes) => {
    const block = new Float32Array(32);
    block.set(head);
    const result = quantizeMxfp8(block);
    expect(result.scales[0]).toBe(scale);
    expect([...result.elements.subarray(0, 4)]).toEqual(bytes);
  });

  it('marks a block with NaN', () => {
    const block = new Float32Array(32).fill(1);
    block[5] = Number.NaN;
    const { scales, elements } = quantizeMxfp8(block);
    expect(scales[0]).toBe(255);
    expect(elements[0]).toBe(0x7f);
  });
});

describe('toBf16', () => {
  it('rounds to nearest even and keeps NaN', () => {
    const values = new Float32Array([1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, Number.NaN]);
    expect([...toBf16(values)]).toEqual([0x3f80, 0x3f80, 0x3f82, 0x7fc0]);
  });
});
