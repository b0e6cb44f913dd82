import { EngineError } from './engine-error.js';

/** The request can never fit the page pool, or the queue is full. */
export class CapacityError extends EngineError {
  /** `never`: larger than the whole pool; `queue`: try again later. */
  readonly reason: 'never' | 'queue';

  constructor(reason: CapacityError['reason'], message: string) {
    super('ENGINE_CAPACITY', message);
    this.reason = reason;
  }
}
