interface Listeners {
  readonly waits: Set<() => void>;
  readonly tell: () => void;
}

// One listener of ours at each signal, however many waits it can end: Node warns of a leak from the
// eleventh on.
const known = new WeakMap<AbortSignal, Listeners>();

/** Calls `giveUp` once when `signal` aborts. */
export function onAbort(signal: AbortSignal, giveUp: () => void): void {
  const listeners = known.get(signal) ?? listenTo(signal);
  listeners.waits.add(giveUp);
}

/** Takes it back; the last one leaves nothing of ours at the signal. */
export function offAbort(signal: AbortSignal, giveUp: () => void): void {
  const listeners = known.get(signal);
  if (!listeners) return;
  listeners.waits.delete(giveUp);
  if (listeners.waits.size > 0) return;
  known.delete(signal);
  signal.removeEventListener('abort', listeners.tell);
}

function listenTo(signal: AbortSignal): Listeners {
  const waits = new Set<() => void>();
  const tell = () => {
    known.delete(signal);
    for (const giveUp of waits) giveUp();
  };
  signal.addEventListener('abort', tell, { once: true });
  const listeners = { waits, tell };
  known.set(signal, listeners);
  return listeners;
}
