import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { download } from '@altstream/cuda-runtime/testing';

/** Downloads a tensor of floats or 32-bit integers. */
export async function readNumbers(
  stream: Stream,
  tensor: Tensor,
): Promise<Float32Array | Int32Array> {
  const data = await download(stream, tensor);
  if (data instanceof Float32Array || data instanceof Int32Array) return data;
  throw new TypeError(`readNumbers: ${tensor.describe()} is neither floats nor 32-bit integers`);
}
