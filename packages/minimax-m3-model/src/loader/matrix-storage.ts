/** How matrices lie on the device. */

import { type FoundPart, mxBlock } from './matrix-part.js';
import type { StoredTensor } from './tensor-source.js';

/** Type of a matrix on the device; `mxfp8` is e4m3 with scales. */
export type MatrixStorage = 'bf16' | 'f32' | 'mxfp8';

/**
 * The storage that holds all parts without loss: as stored where they agree, else the wider type.
 */
export function chooseStorage(found: readonly FoundPart[]): MatrixStorage {
  const types = new Set(found.map(({ tensor }) => tensor.dtype));
  if (types.has('F32')) return 'f32';
  if (!types.has('F8_E4M3') || types.size > 1) return 'bf16';
  return found.every(isWholeBlocks) ? 'mxfp8' : 'bf16';
}

function isWholeBlocks({ columnRange: { start, count } }: FoundPart): boolean {
  return count === 0 || (start % mxBlock === 0 && count % mxBlock === 0);
}

/** Why a part is not kept as it is stored. */
export function conversionReason(part: FoundPart, target: MatrixStorage): string {
  if (!isWholeBlocks(part)) return `this rank's columns cut a block of ${mxBlock}`;
  return target === 'f32' ? 'kept in f32' : 'stored differently than what it is used with';
}

/** How a tensor is stored. */
export function storageOf(tensor: StoredTensor): MatrixStorage {
  return tensor.dtype === 'F8_E4M3' ? 'mxfp8' : tensor.dtype === 'F32' ? 'f32' : 'bf16';
}
