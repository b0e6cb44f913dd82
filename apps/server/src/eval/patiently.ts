import { setTimeout as wait } from 'node:timers/promises';
import { ClientError } from '../errors/index.js';

const defaultWaitMs = 500;
const leastWaitMs = 50;

/**
 * Asks again while the server says that it is busy or still loads (429, 503), as long as the
 * time-out of the request allows. Every other failure is thrown at once.
 */
export async function patiently<T>(
  ask: () => Promise<T>,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = busyWaitMs(error);
      if (waitMs === undefined || performance.now() + waitMs > deadline) throw error;
      await wait(waitMs, undefined, { signal }).catch(() => {
        throw new ClientError('CLIENT_ABORTED', 'the request was stopped', { cause: error });
      });
    }
  }
}

/** A 503 without a time to come back is one that a retry does not help, such as a dead engine. */
function busyWaitMs(error: unknown): number | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const { status, retryAfterMs } = error;
  const isBusy = status === 429 || (status === 503 && retryAfterMs !== undefined);
  return isBusy ? Math.max(leastWaitMs, retryAfterMs ?? defaultWaitMs) : undefined;
}
