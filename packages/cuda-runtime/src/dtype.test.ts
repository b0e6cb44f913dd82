import { expect, test } from 'vitest';
import { type DType, dtypeBytes } from './dtype.js';
import { ArgumentError } from './errors/argument-error.js';

test.each(['toString', '__proto__', 'f64', '', null, undefined, Symbol('f32'), {}])(
  '%o is no element type',
  (name) => {
    expect(() => dtypeBytes(name as DType)).toThrow(ArgumentError);
    expect(() => dtypeBytes(name as DType)).toThrow(/`dtype` is .*expected f32, bf16/);
  },
);

test('sizes in bytes', () => {
  expect([dtypeBytes('f32'), dtypeBytes('bf16'), dtypeBytes('e4m3'), dtypeBytes('i64')]).toEqual([
    4, 2, 1, 8,
  ]);
});
