import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A graph with memory or conditional nodes was instantiated twice, cloned or used as a child. */
export class GraphLifetimeError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_GRAPH_SINGLE_EXEC', ...facts });
  }

  static override isInstance(value: unknown): value is GraphLifetimeError {
    return hasMarker(value, 'GraphLifetimeError');
  }
}
