/** How to give up a wait. The work on the device goes on. */
export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Rejects with `DeadlockError` after this time. */
  readonly timeoutMs?: number;
}
