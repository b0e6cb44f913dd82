import { EngineError } from './engine-error.js';

/** A text that is no scheduling trace, or one that contradicts itself. */
export class TraceError extends EngineError {
  constructor(message: string) {
    super('ENGINE_TRACE', `the trace cannot be replayed: ${message}`);
  }
}
