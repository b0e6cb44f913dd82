import type { Handle } from '../../native/binding.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';

// Objects that users asked graphs to retain, while launches that use them run.
const inFlight = new Set<readonly object[]>();

/** Keeps `objects` until all that was submitted to `stream` so far is over (CG16). */
export function keepWhileRunning(stream: Handle, objects: readonly object[]): void {
  if (objects.length === 0) return;
  const kept = [...objects];
  const { binding, completions } = environment();
  inFlight.add(kept);
  const token = completions.notify(() => inFlight.delete(kept), true);
  guarded(() => binding.notify(stream, token));
}
