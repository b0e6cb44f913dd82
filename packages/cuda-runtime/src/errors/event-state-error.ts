import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** An event is stale, not recorded, not ready, or has no timing (`CRT_EVENT_…`). */
export class EventStateError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_EVENT_NOT_RECORDED', ...facts });
  }

  static override isInstance(value: unknown): value is EventStateError {
    return hasMarker(value, 'EventStateError');
  }
}
