import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A stream's limit of pending operations is reached; await `stream.ready()` or replay a graph. */
export class QueueFullError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_QUEUE_FULL', ...facts });
  }

  static override isInstance(value: unknown): value is QueueFullError {
    return hasMarker(value, 'QueueFullError');
  }
}
