import type { Handle } from '../../native/binding.js';
import { environment } from '../../native/environment.js';
import { guarded } from '../../native/guarded.js';

// By stream: what runs, but could not be bound to its end. Goes with a later launch there, or when
// a later try succeeds.
const unbound = new Map<Handle, Set<object>>();

/**
 * Submits by `launch` and keeps `objects` until all that was submitted to `stream` so far is over
 * (CG16): callbacks that the launch is still to call, and what the user gave to `graph.retain`.
 * What `launch` throws is all that it throws: after a submission nothing fails.
 */
export function launchKeeping(
  stream: Handle,
  objects: readonly object[],
  launch: () => void,
): void {
  if (objects.length === 0) {
    launch();
    return;
  }
  const kept = new Set([...objects, ...(unbound.get(stream) ?? [])]);
  const { binding, completions } = environment();
  // A callback that is registered keeps what it refers to.
  const token = completions.notify(() => kept.clear());
  try {
    launch();
  } catch (error) {
    completions.cancel(token);
    throw error;
  }
  try {
    guarded(() => binding.notify(stream, token));
    unbound.delete(stream);
  } catch {
    completions.cancel(token);
    unbound.set(stream, kept);
    setTimeout(bindLater, retryMs, stream, kept).unref();
  }
}

const retryMs = 20;

function bindLater(stream: Handle, kept: Set<object>): void {
  if (unbound.get(stream) !== kept) return;
  const { binding, completions } = environment();
  const token = completions.notify(() => kept.clear());
  try {
    binding.notify(stream, token);
    unbound.delete(stream);
  } catch {
    completions.cancel(token);
    if (isAlive(stream)) setTimeout(bindLater, retryMs, stream, kept).unref();
    else unbound.delete(stream);
  }
}

function isAlive(stream: Handle): boolean {
  try {
    return environment().binding.streamPending(stream) > 0;
  } catch {
    return false;
  }
}
