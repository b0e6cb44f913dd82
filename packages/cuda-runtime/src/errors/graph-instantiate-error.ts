import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A graph cannot be made executable; the message names the node. */
export class GraphInstantiateError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_GRAPH_INVALID', ...facts });
  }

  static override isInstance(value: unknown): value is GraphInstantiateError {
    return hasMarker(value, 'GraphInstantiateError');
  }
}
