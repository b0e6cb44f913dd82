import type { DeviceBuffer } from '../contract.js';
import { NotOwnerError } from '../errors/not-owner-error.js';
import { NativeBuffer } from './buffer.js';

/**
 * What the tensors of a workspace have as their `buffer`: a wrapper of a piece of the arena, which
 * only the workspace ends.
 */
class LentBuffer extends NativeBuffer {
  override dispose(): void {
    if (this.isDisposed) return;
    throw new NotOwnerError({
      api: 'buffer.dispose',
      detail: `${this.describe()} is a piece of a workspace, and all tensors in it would end`,
      hint: 'Dispose the workspace, or go back with `workspace.release` and `workspace.reset`',
    });
  }
}

/**
 * A wrapper of `piece` that cannot be disposed and ends with it, as all views of either do. What is
 * no buffer of this package, such as a test's, is lent as it is.
 */
export function lend(api: string, piece: DeviceBuffer): DeviceBuffer {
  if (!(piece instanceof NativeBuffer)) return piece;
  const memory = piece.shared(api);
  memory.lend();
  return new LentBuffer(piece.device, memory, piece.bytes, piece.label);
}
