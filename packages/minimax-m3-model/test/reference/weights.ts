/** The weights of a checkpoint as plain numbers, MXFP8 dequantised. */

import { fromBf16, type StoredTensor } from '@altstream/hash-checkpoint';

/** A matrix or vector, row-major. */
export interface ReferenceTensor {
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
}

/** Looks a tensor up by its release name; throws when it is missing. */
export interface ReferenceWeights {
  (name: string): ReferenceTensor;
  has(name: string): boolean;
}

/** Reads stored tensors; a weight with scales is multiplied out. */
export function referenceWeights(stored: Iterable<StoredTensor>): ReferenceWeights {
  const byName = new Map([...stored].map((tensor) => [tensor.name, tensor]));
  const cache = new Map<string, ReferenceTensor>();
  const lookUp = (name: string): ReferenceTensor => {
    const known = cache.get(name);
    if (known) return known;
    const tensor = byName.get(name);
    if (!tensor) throw new Error(`no tensor ${name}`);
    const scales = byName.get(`${name}_scale_inv`);
    const widened = { shape: tensor.shape, values: widen(tensor, scales) };
    cache.set(name, widened);
    return widened;
  };
  return Object.assign(lookUp, { has: (name: string) => byName.has(name) });
}

function widen({ dtype, bytes }: StoredTensor, scales: StoredTensor | undefined): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes;
  if (dtype === 'F32') return new Float32Array(buffer, byteOffset, byteLength / 4);
  if (dtype === 'BF16') return fromBf16(new Uint16Array(buffer, byteOffset, byteLength / 2));
  if (!scales) throw new Error('quantised without scales');
  const scaleBytes = scales.bytes;
  return Float32Array.from(bytes, (byte, i) => {
    const exponent = (byte >> 3) & 15;
    const fraction = (byte & 7) / 8;
    const magnitude = exponent ? (1 + fraction) * 2 ** (exponent - 7) : fraction * 2 ** -6;
    const scale = 2 ** ((scaleBytes[Math.floor(i / 32)] ?? 0) - 127);
    return (byte & 128 ? -magnitude : magnitude) * scale;
  });
}
