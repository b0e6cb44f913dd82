import { wrongKind } from './arguments/faults.js';

/**
 * Element types of tensors. `e8m0` is a power-of-two scale, `e4m3` an 8-bit float, both one byte.
 */
export type DType = 'f32' | 'bf16' | 'f16' | 'e4m3' | 'e8m0' | 'i32' | 'i64' | 'u8';

const bytes: Readonly<Record<DType, number>> = {
  f32: 4,
  bf16: 2,
  f16: 2,
  e4m3: 1,
  e8m0: 1,
  i32: 4,
  i64: 8,
  u8: 1,
};

/** All element types, for the text of an error. */
export const dtypeNames = Object.keys(bytes).join(', ');

/** Size of one element in bytes. @throws ArgumentError for what is no element type */
export function dtypeBytes(dtype: DType): number {
  const size: unknown = bytes[dtype];
  if (typeof size === 'number') return size;
  throw wrongKind('dtypeBytes', 'dtype', dtype, dtypeNames);
}

/** True for the name of an element type. */
export function isDType(value: unknown): value is DType {
  return typeof value === 'string' && Object.hasOwn(bytes, value);
}
