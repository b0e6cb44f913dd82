import { EngineError } from './engine-error.js';

/** A step failed on the device; `cause` is the runtime's error. */
export class StepError extends EngineError {
  constructor(stage: string, cause: unknown) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    super('ENGINE_STEP', `${stage} failed: ${detail}`, { cause });
  }
}
