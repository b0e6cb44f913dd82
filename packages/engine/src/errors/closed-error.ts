import { EngineError } from './engine-error.js';

/** The engine was closed before or while the request ran. */
export class ClosedError extends EngineError {
  constructor() {
    super('ENGINE_CLOSED', 'the engine is closed; create a new one');
  }
}
