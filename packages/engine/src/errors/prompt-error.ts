import { EngineError } from './engine-error.js';

/** A prompt that this model can never run: empty, too long, or with ids outside the vocabulary. */
export class PromptError extends EngineError {
  /** What is wrong, for callers that answer differently to each. */
  readonly problem: 'empty' | 'too-long' | 'token-id';

  constructor(problem: PromptError['problem'], message: string) {
    super('ENGINE_PROMPT', message);
    this.problem = problem;
  }
}
