import { EngineError } from './engine-error.js';

/**
 * The engine was closed, or gave up after a fault (then `cause` tells which), before the request.
 */
export class ClosedError extends EngineError {
  constructor(fault?: Error) {
    const detail = fault ? `the engine gave up: ${fault.message}` : 'the engine is closed';
    super('ENGINE_CLOSED', `${detail}; create a new one`, fault ? { cause: fault } : undefined);
  }
}
