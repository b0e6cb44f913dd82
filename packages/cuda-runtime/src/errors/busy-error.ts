import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A graph was changed while it is being instantiated, or an executable used from two threads. */
export class BusyError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_BUSY', ...facts });
  }

  static override isInstance(value: unknown): value is BusyError {
    return hasMarker(value, 'BusyError');
  }
}
