import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/**
 * An object was used after its dispose, directly or through a view. With `CRT_WARN_LEAKS=1` the
 * stack of its `cause` shows where it was disposed.
 */
export class DisposedError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_DISPOSED', ...facts });
  }

  static override isInstance(value: unknown): value is DisposedError {
    return hasMarker(value, 'DisposedError');
  }
}
