import type { Stream } from '../contract.js';
import type { DType } from '../dtype.js';
import { Tensor } from '../memory/tensor.js';
import { bf16ToF32, f32ToBf16 } from './bf16.js';
import { e4m3ToF32, f32ToE4m3 } from './e4m3.js';
import { e8m0ToF32, f32ToE8m0 } from './e8m0.js';
import { f16ToF32, f32ToF16 } from './f16.js';

/** Data that `upload` takes. */
export type UploadData =
  | readonly number[]
  | readonly bigint[]
  | Float32Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | BigInt64Array;

/** What `download` gives: floats of any width as f32, integers as they are. */
export type DownloadData = Float32Array | Int32Array | Uint8Array | BigInt64Array;

/**
 * Makes a tensor with this data. Numbers are rounded to `dtype`, to nearest, ties to even. A
 * Uint16Array for bf16 and f16, and a Uint8Array for e4m3 and e8m0, is taken as bits.
 */
export function upload(
  stream: Stream,
  data: UploadData,
  shape: readonly number[],
  dtype: DType,
): Tensor {
  const encoded = encode(data, dtype);
  const tensor = Tensor.allocate(stream.device, shape, dtype, { stream });
  if (encoded.length !== tensor.elements) {
    throw new RangeError(`upload: ${encoded.length} values for ${tensor.describe()}`);
  }
  stream.write(tensor, encoded);
  return tensor;
}

/** Reads a contiguous tensor; bf16, f16, e4m3 and e8m0 are widened to f32. */
export async function download(stream: Stream, tensor: Tensor): Promise<DownloadData> {
  const { buffer } = await downloadRaw(stream, tensor);
  switch (tensor.dtype) {
    case 'f32':
      return new Float32Array(buffer);
    case 'bf16':
      return bf16ToF32(new Uint16Array(buffer));
    case 'f16':
      return f16ToF32(new Uint16Array(buffer));
    case 'e4m3':
      return e4m3ToF32(new Uint8Array(buffer));
    case 'e8m0':
      return e8m0ToF32(new Uint8Array(buffer));
    case 'i32':
      return new Int32Array(buffer);
    case 'i64':
      return new BigInt64Array(buffer);
    case 'u8':
      return new Uint8Array(buffer);
  }
}

/** Reads the bytes of a contiguous tensor. */
export async function downloadRaw(
  stream: Stream,
  tensor: Tensor,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(tensor.bytes);
  await stream.read(tensor, bytes);
  return bytes;
}

/** Fills a tensor with 0xA5, so that what a kernel fails to write is seen. */
export function poison(stream: Stream, tensor: Tensor): void {
  stream.fill(tensor, 0xa5);
}

function encode(
  data: UploadData,
  dtype: DType,
): Float32Array | Int32Array | BigInt64Array | Uint16Array | Uint8Array {
  switch (dtype) {
    case 'f32':
      return data instanceof Float32Array ? data : Float32Array.from(data, Number);
    case 'bf16':
      return data instanceof Uint16Array ? data : f32ToBf16(Float32Array.from(data, Number));
    case 'f16':
      return data instanceof Uint16Array ? data : f32ToF16(Float32Array.from(data, Number));
    case 'e4m3':
      return data instanceof Uint8Array ? data : f32ToE4m3(Float32Array.from(data, Number));
    case 'e8m0':
      return data instanceof Uint8Array ? data : f32ToE8m0(Float32Array.from(data, Number));
    case 'i32':
      return data instanceof Int32Array ? data : Int32Array.from(data, Number);
    case 'i64':
      return data instanceof BigInt64Array ? data : BigInt64Array.from(data, toBigInt);
    case 'u8':
      return data instanceof Uint8Array ? data : Uint8Array.from(data, Number);
  }
}

function toBigInt(value: number | bigint): bigint {
  return BigInt(value);
}
