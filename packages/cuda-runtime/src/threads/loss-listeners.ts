import { DeviceLostError } from '../errors/device-lost-error.js';
import { fromNative } from '../errors/from-native.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';

type Listener = (error: DeviceLostError) => void;

// The token of listeners that went with their runtime.
const forgotten = new FinalizationRegistry<number>((token) => {
  environment().completions.cancel(token);
});

/** Who is told when the device of one runtime is lost. */
export class LossListeners {
  readonly #listeners = new Set<Listener>();
  #token = 0;
  #error: DeviceLostError | undefined;

  /** @returns removes the listener */
  add(listener: Listener, runtime: Handle): () => void {
    if (this.#error) tell(listener, this.#error);
    else this.#listeners.add(listener);
    this.#watch(runtime);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** The runtime is disposed: nobody is told any more. */
  end(): void {
    this.#listeners.clear();
    if (this.#token !== 0) environment().completions.cancel(this.#token);
  }

  // Once, with the first listener.
  #watch(runtime: Handle): void {
    if (this.#token !== 0) return;
    const { binding, completions } = environment();
    this.#token = completions.watch(weakly(this, runtime));
    forgotten.register(this, this.#token);
    binding.watchLoss(runtime, this.#token);
  }

  /** @internal */
  lost(error: DeviceLostError): void {
    this.#error = error;
    for (const listener of this.#listeners) tell(listener, error);
    this.#listeners.clear();
  }
}

// A listener may refer to its runtime, and what waits for a loss must keep neither alive.
function weakly(listeners: LossListeners, runtime: Handle): (posted: unknown) => void {
  const kept = new WeakRef(listeners);
  return (posted) => {
    const error = lossOf(runtime) ?? posted;
    if (DeviceLostError.isInstance(error)) kept.deref()?.lost(error);
  };
}

// By now more may be known than when the loss was seen, such as the last kernel that ended well.
function lossOf(runtime: Handle): unknown {
  try {
    environment().binding.checkLoss(runtime);
    return undefined;
  } catch (error) {
    return fromNative(error);
  }
}

// One that throws is an uncaught exception, and the others are called all the same.
function tell(listener: Listener, error: DeviceLostError): void {
  queueMicrotask(() => listener(error));
}
