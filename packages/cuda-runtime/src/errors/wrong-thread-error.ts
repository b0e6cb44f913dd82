import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A handle was used, or a capture ended, on another thread. */
export class WrongThreadError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_WRONG_THREAD', ...facts });
  }

  static override isInstance(value: unknown): value is WrongThreadError {
    return hasMarker(value, 'WrongThreadError');
  }
}
