/** The tensors of a hash-weight checkpoint with their bytes. */

import { createHash } from 'node:crypto';
import type { ConfigJson } from './hash-config.js';
import { hashValues } from './hash-values.js';
import { fromBf16, MX_BLOCK, quantizeMxfp8, toBf16 } from './number-formats.js';
import { listTensors, type TensorEntry } from './tensor-list.js';

/** Bytes of an element. No hash tensor is F16; tests write such files to see them refused. */
export const storedBytes = { BF16: 2, F16: 2, F32: 4, F8_E4M3: 1, U8: 1 } as const;

/** A tensor as it lies in a safetensors file. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: keyof typeof storedBytes;
  readonly shape: readonly number[];
  /** Little-endian bytes, row-major. Those of `hashTensors` are made anew at each access. */
  readonly bytes: Uint8Array;
}

/**
 * The tensors of a checkpoint. Their bytes are made when they are asked for, so that a large model
 * never lies in memory as a whole.
 *
 * @param options.mxfp8 quantises what the MXFP8 release quantises: the bf16 value is rounded first,
 *   then quantised, and each such weight is followed by its `_scale_inv`
 * @throws Error when a row to quantise is no multiple of 32
 */
export function hashTensors(
  config: ConfigJson,
  options: { readonly mxfp8?: boolean } = {},
): StoredTensor[] {
  return listTensors(config).flatMap((entry) =>
    options.mxfp8 && entry.quantizable ? quantized(entry) : [unquantized(entry)],
  );
}

/** sha256 over name bytes and tensor bytes of the given tensors, in ascending order of names. */
export function checkpointHash(tensors: Iterable<StoredTensor>): string {
  const hash = createHash('sha256');
  const sorted = [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, bytes } of sorted) hash.update(name, 'utf8').update(bytes);
  return hash.digest('hex');
}

function unquantized({ name, shape, dtype, scale }: TensorEntry): StoredTensor {
  return {
    name,
    shape,
    dtype,
    get bytes() {
      const values = hashValues(name, elements(shape), scale);
      return bytesOf(dtype === 'F32' ? values : toBf16(values));
    },
  };
}

function quantized({ name, shape, scale }: TensorEntry): StoredTensor[] {
  const [rows = 0, columns = 0] = shape;
  if (columns % MX_BLOCK !== 0) {
    throw new Error(
      `${name}: ${columns} columns are no multiple of ${MX_BLOCK}, so MXFP8 cannot store it`,
    );
  }
  const make = () => {
    const exact = fromBf16(toBf16(hashValues(name, rows * columns, scale)));
    return quantizeMxfp8(exact);
  };
  const weight: StoredTensor = {
    name,
    dtype: 'F8_E4M3',
    shape,
    get bytes() {
      return make().elements;
    },
  };
  const scales: StoredTensor = {
    name: `${name}_scale_inv`,
    dtype: 'U8',
    shape: [rows, columns / MX_BLOCK],
    get bytes() {
      return make().scales;
    },
  };
  return [weight, scales];
}

function elements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

function bytesOf(array: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
