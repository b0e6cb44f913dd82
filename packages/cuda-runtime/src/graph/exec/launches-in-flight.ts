import type { Handle } from '../../native/binding.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';

/**
 * Keeps `objects` until all that was submitted to `stream` so far is over (CG16): callbacks that the
 * launch is still to call, and what the user gave to `graph.retain`.
 */
export function keepWhileRunning(stream: Handle, objects: readonly object[]): void {
  if (objects.length === 0) return;
  const kept = [...objects];
  const { binding, completions } = environment();
  // A callback that is registered keeps what it refers to.
  const token = completions.notify(() => kept.splice(0));
  try {
    guarded(() => binding.notify(stream, token));
  } catch (error) {
    completions.cancel(token);
    throw error;
  }
}
