import type { DType } from '../dtype.js';

/** Which elements a tensor has, and where in its memory. */
export interface TensorForm {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Elements from one index to the next, per dimension. */
  readonly strides: readonly number[];
  /** Bytes from the start of the buffer. */
  readonly byteOffset: number;
  readonly rank: number;
  /** Product of the shape. */
  readonly elements: number;
  /** `elements` × element size: the memory of a contiguous tensor. */
  readonly bytes: number;
  /** Bytes from the first to just behind the last element; 0 when empty. */
  readonly spanBytes: number;
  readonly isContiguous: boolean;
  /** `f32 [2, 3]`, for messages. */
  describe(): string;
}
