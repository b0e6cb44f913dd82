import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A borrowed or registry object was disposed; dispose its owner. */
export class NotOwnerError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_NOT_OWNER', ...facts });
  }

  static override isInstance(value: unknown): value is NotOwnerError {
    return hasMarker(value, 'NotOwnerError');
  }
}
