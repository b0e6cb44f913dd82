import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A refused change of an executable could not be taken back: it launches no more. */
export class GraphExecBrokenError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_GRAPH_EXEC_BROKEN', ...facts });
  }

  static override isInstance(value: unknown): value is GraphExecBrokenError {
    return hasMarker(value, 'GraphExecBrokenError');
  }
}
