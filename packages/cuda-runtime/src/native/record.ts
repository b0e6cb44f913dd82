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
  readonly views: ReadonlySet<OpenView> | undefined;
}

/** A view that is open, for the warning that it was forgotten. */
export interface OpenView {
  readonly what: string;
  readonly stack: string | undefined;
}

/** How a record differs from a user's object that `release` gives back. */
export interface RecordTerms {
  /** Whether a user should have disposed it, so that a leak is worth a warning. Default true. */
  readonly isUsers?: boolean;
  /** A runtime, whose end may take long. Default false. */
  readonly isRuntime?: boolean;
  /** Views that are open now, kept while leaks are warned of. */
  readonly views?: ReadonlySet<OpenView> | undefined;
}

let warnLeaks = false;

/**
 * Whether objects collected without `dispose` are reported, and a use after `dispose` says where
 * that was (`CRT_WARN_LEAKS=1`).
 */
export function setLeakWarnings(on: boolean): void {
  warnLeaks = on;
}

/** @internal What `setLeakWarnings` was told. */
export function areLeaksWarned(): boolean {
  return warnLeaks;
}

// The safety net for forgotten objects. `release` drops a reference and never waits: what work or a
// graph still uses stays (docs/lifetimes.md).
const forgotten = new FinalizationRegistry<Held>((held) => {
  const { what, stack, isUsers } = held;
  const views = [...(held.views ?? [])];
  // What was collected with a runtime is released before it, so that the event loop is not where
  // the last reference goes.
  if (held.isRuntime) setImmediate(release, held).unref();
  else release(held);
  if (isUsers) publish('leak', { what, stack, views: views.map((view) => view.what) });
  if (stack) {
    const places = views.slice(0, mostListed).map((view) => `${view.what}: ${view.stack}`);
    const detail = [stack, ...places].join('\n');
    const facts = { type: 'CudaRuntimeLeak', code: 'CRT_LEAK', detail };
    process.emitWarning(`${what} was collected undisposed${listOf(views)}`, facts);
  }
});

const mostListed = 8;

function listOf(views: readonly OpenView[]): string {
  if (views.length === 0) return '';
  const names = views.slice(0, mostListed).map((view) => view.what);
  const more = views.length - names.length;
  return `; open views: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

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
 * releases the record; a record that several wrappers share is its own holder.
 */
export class NativeRecord {
  #handle: Handle;
  readonly #what: string;
  readonly #isRuntime: boolean;
  #disposedAt: Error | undefined;

  constructor(holder: object | 'itself', handle: Handle, what: string, terms: RecordTerms = {}) {
    const { isUsers = true, isRuntime = false, views } = terms;
    this.#handle = handle;
    this.#what = what;
    this.#isRuntime = isRuntime;
    const stack = warnLeaks && isUsers ? new Error('created here').stack : undefined;
    const held = { handle, what, stack, isUsers, isRuntime, views };
    forgotten.register(holder === 'itself' ? this : holder, held, this);
  }

  /** The handle. @throws DisposedError after `release` */
  use(api: string): Handle {
    if (this.#handle === 0) throw disposedError(api, this.#what, this.#disposedAt);
    return this.#handle;
  }

  /** The same for hot paths: 0 after `release`. */
  get handle(): Handle {
    return this.#handle;
  }

  get isReleased(): boolean {
    return this.#handle === 0;
  }

  /** Kind and label, for messages. */
  get what(): string {
    return this.#what;
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
}

/** The error for the use of a disposed object, to throw. */
export function disposedError(api: string, what: string, disposedAt?: Error): DisposedError {
  return new DisposedError({
    api,
    detail: `${what} is disposed`,
    hint: 'Dispose it after its last use; work that was already submitted is not affected',
    ...(disposedAt ? { cause: disposedAt } : {}),
  });
}
