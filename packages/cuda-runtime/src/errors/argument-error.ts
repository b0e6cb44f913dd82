import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/**
 * A wrong type, range, size, unknown option or handle of another kind; names the argument and the
 * allowed range.
 */
export class ArgumentError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_ARGUMENT', ...facts });
  }

  static override isInstance(value: unknown): value is ArgumentError {
    return hasMarker(value, 'ArgumentError');
  }
}
