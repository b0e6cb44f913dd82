import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** Device or pinned memory is exhausted; not sticky, the runtime goes on. */
export class OutOfMemoryError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_OOM', ...facts });
  }

  static override isInstance(value: unknown): value is OutOfMemoryError {
    return hasMarker(value, 'OutOfMemoryError');
  }
}
