import type { WaitOptions } from './wait-options.js';

/** How far a stream is. */
export interface StreamProgress {
  /** Everything submitted is complete. */
  isIdle(): boolean;
  /** Resolves when everything submitted so far is complete. */
  synchronize(options?: WaitOptions): Promise<void>;
  /** The same, blocking this thread. */
  synchronizeSync(options?: { readonly timeoutMs?: number }): void;
  /** Operations submitted and not complete. */
  readonly pending: number;
  /** Resolves when fewer than `below` are pending; default two thirds of `maxPending`. */
  ready(below?: number): Promise<void>;
}
