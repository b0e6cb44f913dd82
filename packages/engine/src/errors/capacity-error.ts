import { EngineError } from './engine-error.js';

/** The request can never fit the page pool, or too much waits already. */
export class CapacityError extends EngineError {
  /**
   * `never`: larger than the whole pool; `queue`, `tokens`: too many requests or tokens wait, of
   * its tenant or of all; try again later.
   */
  readonly reason: 'never' | 'queue' | 'tokens';
  /** Prompt tokens that wait, for who wants to guess how long that takes. */
  readonly waitingTokens: number;

  constructor(reason: CapacityError['reason'], message: string, waitingTokens = 0) {
    super('ENGINE_CAPACITY', message);
    this.reason = reason;
    this.waitingTokens = waitingTokens;
  }
}
