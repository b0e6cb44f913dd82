import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A blocking wait would never end, or nothing has moved for the watchdog's time. */
export class DeadlockError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_DEADLOCK', ...facts });
  }

  static override isInstance(value: unknown): value is DeadlockError {
    return hasMarker(value, 'DeadlockError');
  }
}
