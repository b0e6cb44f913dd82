import type { Runtime } from '../contract.js';

// Kept weakly: a runtime that its user forgot must stay collectable.
const opened = new Set<WeakRef<Runtime>>();

/** Remembers a runtime of this thread, for handles that other threads export. */
export function noteOpened(runtime: Runtime): void {
  opened.add(new WeakRef(runtime));
}

/** Forgets it when it is disposed. */
export function noteClosed(runtime: Runtime): void {
  for (const reference of opened) {
    const known = reference.deref();
    if (known === undefined || known === runtime) opened.delete(reference);
  }
}

/** Every runtime that this thread has open. */
export function openRuntimes(): readonly Runtime[] {
  return [...opened].flatMap((reference) => reference.deref() ?? []);
}
