import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** Handles of two runtimes were mixed in one call. */
export class BackendMismatchError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_BACKEND_MISMATCH', ...facts });
  }

  static override isInstance(value: unknown): value is BackendMismatchError {
    return hasMarker(value, 'BackendMismatchError');
  }
}
