import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** An artefact lacks the kernel or the architecture, or disagrees about a parameter struct. */
export class KernelImageError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_NO_SYMBOL', ...facts });
  }

  static override isInstance(value: unknown): value is KernelImageError {
    return hasMarker(value, 'KernelImageError');
  }
}
