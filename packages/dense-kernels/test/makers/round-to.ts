import { roundBf16 } from '@altstream/cuda-runtime/testing';

/** The values as a tensor of `dtype` holds them. */
export function roundTo(values: ArrayLike<number>, dtype: 'bf16' | 'f32'): Float32Array {
  return Float32Array.from(values, (value) => (dtype === 'bf16' ? roundBf16(value) : value));
}
