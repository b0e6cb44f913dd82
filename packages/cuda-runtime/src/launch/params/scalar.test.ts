import { expect, test } from 'vitest';
import { CommandBlock } from '../../native/command-block.js';
import type { ParamType } from './params-layout.js';
import { writeScalar } from './scalar.js';

const memory = new ArrayBuffer(64);
const block = new CommandBlock(memory);
const view = new DataView(memory);

test.each<[ParamType, number | bigint | boolean, () => unknown]>([
  ['i32', -5, () => view.getInt32(8, true)],
  ['i32', true, () => view.getInt32(8, true) === 1 && true],
  ['bool', true, () => view.getUint8(8) === 1],
  ['bool', false, () => view.getUint8(8) !== 0],
  ['u32', 4_294_967_295, () => view.getUint32(8, true)],
  ['f32', 0.5, () => view.getFloat32(8, true)],
  ['f32', Number.POSITIVE_INFINITY, () => view.getFloat32(8, true)],
  ['f32', Number.NaN, () => view.getFloat32(8, true)],
  ['f32', -(2 - 2 ** -23) * 2 ** 127, () => view.getFloat32(8, true)],
  ['f64', Math.PI, () => view.getFloat64(8, true)],
  ['i64', -(2n ** 63n), () => view.getBigInt64(8, true)],
  ['i64', -(2 ** 40) - 3, () => Number(view.getBigInt64(8, true))],
  ['u64', 2n ** 64n - 1n, () => view.getBigUint64(8, true)],
  ['u64', Number.MAX_SAFE_INTEGER, () => Number(view.getBigUint64(8, true))],
])('%s takes %s', (type, value, read) => {
  expect(writeScalar(block, 8, type, value)).toBe(true);
  expect(read()).toBe(value);
});

test.each<[ParamType, number | bigint | null]>([
  ['i32', 2 ** 31],
  ['i32', 1.5],
  ['i32', 1n],
  ['i32', Number.NaN],
  ['u32', -1],
  ['bool', 1],
  ['bool', null],
  ['f32', 1n],
  ['f32', 1e39],
  ['f32', -3.5e38],
  ['f64', null],
  ['i64', 2n ** 63n],
  ['i64', 2 ** 53],
  ['u64', -1],
  ['u64', -1n],
  ['u64', 2n ** 64n],
])('%s refuses %s and writes nothing', (type, value) => {
  view.setBigInt64(8, 77n, true);
  expect(writeScalar(block, 8, type, value)).toBe(false);
  expect(view.getBigInt64(8, true)).toBe(77n);
});
