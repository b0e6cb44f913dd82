import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** The runtime was used inside a host function. */
export class HostCallbackError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_IN_CALLBACK', ...facts });
  }

  static override isInstance(value: unknown): value is HostCallbackError {
    return hasMarker(value, 'HostCallbackError');
  }
}
