import { EngineError } from './engine-error.js';

/** A request did not start, or did not end, in the time that it had. */
export class DeadlineError extends EngineError {
  /** `queue`: it waited too long for a place; `request`: its own time is over. */
  readonly stage: 'queue' | 'request';

  constructor(stage: DeadlineError['stage'], message: string) {
    super('ENGINE_DEADLINE', message);
    this.stage = stage;
  }
}
