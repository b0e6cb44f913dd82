import type { DType } from '../../dtype.js';

/** C type of a field: `buf` is a pointer into device memory, `bool` one byte that is 0 or 1. */
export type ParamType = 'buf' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64' | 'bool';

/** One field of a kernel's parameter struct, as its manifest lists it. */
export interface ParamField {
  readonly name: string;
  readonly type: ParamType;
  /** Bytes from the start of the struct. */
  readonly offset: number;
  /** Pointers only: what the kernel does with the memory. */
  readonly access?: 'r' | 'w' | 'rw';
  /** Pointers only: accepted element types; empty = any. */
  readonly dtype?: readonly DType[];
  /** Pointers only: null is allowed. */
  readonly optional?: boolean;
}

/** The parameter struct of a kernel. */
export interface ParamsLayout {
  readonly struct: string;
  readonly bytes: number;
  readonly fields: readonly ParamField[];
}
