import { LedgerError } from '../errors/index.js';

/** What a ledger watch looks at. */
export interface LedgerWatchOptions {
  /** Throws a `LedgerError` if the books do not balance. */
  readonly check: () => void;
  /** Starts the books anew. */
  readonly rebuild: () => void;
  /** Told of each check that fails. */
  readonly onError: ((error: Error) => void) | undefined;
  /** Milliseconds that count up. */
  readonly now: () => number;
}

const everyMs = 10_000;

/**
 * Looks at the page ledger now and then; a fault is told, and mended as soon as no sequence runs.
 */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions;
  #nextMs: number;
  #errors = 0;
  #isBroken = false;

  constructor(options: LedgerWatchOptions) {
    this.#options = options;
    this.#nextMs = options.now() + everyMs;
  }

  /** Checks that failed so far. */
  get errors(): number {
    return this.#errors;
  }

  /** After a step: looks, if ten seconds have gone by. */
  tick(): void {
    const { check, onError, now } = this.#options;
    if (now() < this.#nextMs) return;
    this.#nextMs = now() + everyMs;
    try {
      check();
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      this.#errors += 1;
      this.#isBroken = true;
      onError?.(error);
    }
  }

  /** When nothing runs, so that nobody depends on the old books. @returns whether they are new */
  mendWhenIdle(): boolean {
    if (!this.#isBroken) return false;
    this.#isBroken = false;
    this.#options.rebuild();
    return true;
  }
}
