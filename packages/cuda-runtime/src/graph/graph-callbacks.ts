import { environment } from '../native/environment.js';

const collected = new FinalizationRegistry<readonly number[]>((tokens) => {
  for (const token of tokens) environment().completions.cancel(token);
});

/** The callback of a `notify` node and the token that calls it. */
export interface GraphCallback {
  readonly token: number;
  readonly callback: () => void;
}

/**
 * Keeps the callbacks of a graph's `notify` nodes. The graph, its executables and launches in
 * flight hold it; when the last one is gone, the callbacks are forgotten.
 */
export class GraphCallbacks {
  /** Held, not read. */
  readonly callbacks: readonly GraphCallback[];

  constructor(callbacks: readonly GraphCallback[]) {
    this.callbacks = callbacks;
    collected.register(
      this,
      callbacks.map(({ token }) => token),
    );
  }
}
