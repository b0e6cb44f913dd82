import { EngineError } from './engine-error.js';

/** The page ledger does not add up: a fault of the engine itself, never of a request. */
export class LedgerError extends EngineError {
  constructor(message: string) {
    super('ENGINE_LEDGER', message);
  }
}
