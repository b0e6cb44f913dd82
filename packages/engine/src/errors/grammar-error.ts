import { EngineError } from './engine-error.js';

/** The grammar matcher of a request failed; `cause` is what it threw. */
export class GrammarError extends EngineError {
  /** The matcher's own code, if what it threw has one. */
  readonly reason: string | undefined;

  constructor(cause: unknown) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    super('ENGINE_GRAMMAR', `the grammar of the request failed: ${detail}`, { cause });
    const { code } = (cause ?? {}) as { code?: unknown };
    this.reason = typeof code === 'string' ? code : undefined;
  }
}
