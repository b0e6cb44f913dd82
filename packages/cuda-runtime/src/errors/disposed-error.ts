import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** An object was used after its dispose, directly or through a view. */
export class DisposedError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_DISPOSED', ...facts });
  }

  static override isInstance(value: unknown): value is DisposedError {
    return hasMarker(value, 'DisposedError');
  }
}
