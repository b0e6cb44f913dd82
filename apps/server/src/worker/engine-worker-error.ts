import { ServerError } from '../errors/index.js';
import type { WireError } from './messages.js';

/** An error of a worker, with its code and facts. */
export class EngineWorkerError extends ServerError {
  readonly facts: Readonly<Record<string, unknown>>;

  constructor({ code, message, facts }: WireError) {
    super(code, message);
    this.facts = facts;
  }
}
