import { environment } from '../native/environment.js';

const collected = new FinalizationRegistry<readonly number[]>((tokens) => {
  for (const token of tokens) environment().completions.cancel(token);
});

/**
 * Keeps the callbacks of a graph's `notify` nodes. The graph and its executables hold it; when the
 * last one is gone, the callbacks are forgotten.
 */
export class GraphCallbacks {
  constructor(tokens: readonly number[]) {
    collected.register(this, tokens);
  }
}
