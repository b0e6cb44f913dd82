import { DisposedError } from '../errors/disposed-error.js';
import { fromNative } from '../errors/from-native.js';
import { publish } from '../trace/diagnostics.js';
import type { Handle } from './binding.js';
import { environment } from './environment.js';

interface Held {
  readonly handle: Handle;
  readonly what: string;
  readonly stack: string | undefined;
  readonly isUsers: boolean;
  readonly isRuntime: boolean;
}

/** How a record differs from a user's object that `release` gives back. */
export interface RecordTerms {
  /** Whether a user should have disposed it, so that a leak is worth a warning. Default true. */
  readonly isUsers?: boolean;
  /** A runtime, whose end may take long. Default false. */
  readonly isRuntime?: boolean;
}

let warnLeaks = false;

/**
 * Whether objects collected without `dispose` are reported, and a use after `dispose` says where
 * that was (`CRT_WARN_LEAKS=1`).
 */
export function setLeakWarnings(on: boolean): void {
  warnLeaks = on;
}

// The safety net for forgotten objects. `release` drops a reference and never waits: what work or a
// graph still uses stays (docs/lifetimes.md).
const forgotten = new FinalizationRegistry<Held>((held) => {
  const { what, stack, isUsers } = held;
  // What was collected with a runtime is released before it, so that the event loop is not where
  // the last reference goes.
  if (held.isRuntime) setImmediate(release, held).unref();
  else release(held);
  if (isUsers) publish('leak', { what, stack });
  if (stack) {
    const facts = { type: 'CudaRuntimeLeak', code: 'CRT_LEAK', detail: stack };
    process.emitWarning(`${what} was collected undisposed`, facts);
  }
});

function release({ handle, what, isRuntime }: Held): void {
  const { binding } = environment();
  try {
    if (isRuntime) binding.forgetRuntime(handle);
    else binding.release(handle);
  } catch (error) {
    // A wrapper that somebody made with a number of his own must not end the process.
    process.emitWarning(`${what} could not be released: ${String(fromNative(error))}`);
  }
}

/**
 * One wrapper's reference to a native record. The holder passes itself, so that its collection
 * releases the record.
 */
export class NativeRecord {
  #handle: Handle;
  readonly #what: string;
  readonly #isRuntime: boolean;
  #disposedAt: Error | undefined;

  constructor(holder: object, handle: Handle, what: string, terms: RecordTerms = {}) {
    const { isUsers = true, isRuntime = false } = terms;
    this.#handle = handle;
    this.#what = what;
    this.#isRuntime = isRuntime;
    const stack = warnLeaks && isUsers ? new Error('created here').stack : undefined;
    forgotten.register(holder, { handle, what, stack, isUsers, isRuntime }, this);
  }

  /** The handle. @throws DisposedError after `release` */
  use(api: string): Handle {
    if (this.#handle === 0) throw this.#disposed(api);
    return this.#handle;
  }

  /** The same for hot paths: 0 after `release`. */
  get handle(): Handle {
    return this.#handle;
  }

  get isReleased(): boolean {
    return this.#handle === 0;
  }

  /** Gives the reference back; the second call does nothing. */
  release(): void {
    const handle = this.#handle;
    if (handle === 0) return;
    this.#handle = 0;
    if (warnLeaks) this.#disposedAt = new Error(`${this.#what} was disposed here`);
    forgotten.unregister(this);
    try {
      const { binding } = environment();
      if (this.#isRuntime) binding.closeRuntime(handle);
      else binding.release(handle);
    } catch (error) {
      throw fromNative(error);
    }
  }

  #disposed(api: string): DisposedError {
    return new DisposedError({
      api,
      detail: `${this.#what} is disposed`,
      hint: 'Dispose it after its last use; work that was already submitted is not affected',
      ...(this.#disposedAt ? { cause: this.#disposedAt } : {}),
    });
  }
}
