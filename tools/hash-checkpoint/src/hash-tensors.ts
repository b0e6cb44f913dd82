/** The tensors of a hash-weight checkpoint with their bytes. */

import { createHash } from 'node:crypto';
import type { ConfigJson } from './hash-config.js';
import { hashValues } from './hash-values.js';
import { fromBf16, MX_BLOCK, quantizeMxfp8, toBf16 } from './number-formats.js';
import { listTensors, type TensorEntry } from './tensor-list.js';

/** A tensor as it lies in a safetensors file. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: 'BF16' | 'F32' | 'F8_E4M3' | 'U8';
  readonly shape: readonly number[];
  /** Little-endian bytes, row-major. */
  readonly bytes: Uint8Array;
}

/**
 * Makes the tensors one after the other, so that a large model never lies in memory as a whole.
 *
 * @param options.mxfp8 quantises what the MXFP8 release quantises: the bf16 value is rounded first,
 *   then quantised, and each such weight is followed by its `_scale_inv`
 */
export function* hashTensors(
  config: ConfigJson,
  options: { readonly mxfp8?: boolean } = {},
): Generator<StoredTensor> {
  for (const entry of listTensors(config)) {
    yield* options.mxfp8 && entry.quantizable ? quantized(entry) : [unquantized(entry)];
  }
}

/** sha256 over name bytes and tensor bytes of the chosen tensors, in ascending order of names. */
export function checkpointHash(tensors: Iterable<StoredTensor>): string {
  const hash = createHash('sha256');
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, bytes } of sorted) hash.update(name, 'utf8').update(bytes);
  return hash.digest('hex');
}

function unquantized(entry: TensorEntry): StoredTensor {
  const { name, shape, dtype } = entry;
  const values = hashValues(name, elements(shape), entry.scale);
  return { name, shape, dtype, bytes: bytesOf(dtype === 'F32' ? values : toBf16(values)) };
}

function* quantized(entry: TensorEntry): Generator<StoredTensor> {
  const [rows = 0, columns = 0] = entry.shape;
  if (columns % MX_BLOCK !== 0) {
    throw new Error(
      `${entry.name}: ${columns} columns are no multiple of ${MX_BLOCK}, so MXFP8 cannot store it`,
    );
  }
  const exact = fromBf16(toBf16(hashValues(entry.name, rows * columns, entry.scale)));
  const { elements: data, scales } = quantizeMxfp8(exact);
  yield { name: entry.name, dtype: 'F8_E4M3', shape: entry.shape, bytes: data };
  const shape = [rows, columns / MX_BLOCK];
  yield { name: `${entry.name}_scale_inv`, dtype: 'U8', shape, bytes: scales };
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function bytesOf(array: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
