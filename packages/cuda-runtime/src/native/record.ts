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
  readonly share: RecordShare;
  // Of the list of all that are held.
  next: Held | undefined;
  previous: Held | undefined;
}

/**
 * Who ends an object: a user by `dispose`, the runtime, a pool of streams, a workspace, a graph
 * with its launches, or the collector, where there is no `dispose`.
 */
export type RecordOwner = 'user' | 'runtime' | 'pool' | 'workspace' | 'graph' | 'collector';

/** Who has a record. */
export interface RecordShare {
  readonly owner: RecordOwner;
  /** Objects that are open. */
  readonly open: number;
}

const shares: Readonly<Record<RecordOwner, RecordShare>> = {
  user: { owner: 'user', open: 1 },
  runtime: { owner: 'runtime', open: 1 },
  pool: { owner: 'pool', open: 1 },
  workspace: { owner: 'workspace', open: 1 },
  graph: { owner: 'graph', open: 1 },
  collector: { owner: 'collector', open: 1 },
};

/** A view that is open, for the warning that it was forgotten. */
export interface OpenView {
  readonly what: string;
  readonly stack: string | undefined;
}

/** How a record differs from a user's object that `release` gives back. */
export interface RecordTerms {
  /** Whether a user should have disposed it, so that a leak is worth a warning. Default true. */
  readonly isUsers?: boolean;
  /** Who ends it, where one object has the record. Default `user`. */
  readonly owner?: RecordOwner;
  /** The same where several share it; kept up to date by the caller. */
  readonly share?: RecordShare;
  /** A runtime, whose end may take long. Default false. */
  readonly isRuntime?: boolean;
  /** Views that are open now, kept while leaks are warned of. */
  readonly views?: ReadonlySet<OpenView> | undefined;
}

/** Of what the runtime ends with itself. */
export const runtimeTerms: RecordTerms = { isUsers: false, owner: 'runtime' };

/** Of what has no `dispose`. */
export const collectorTerms: RecordTerms = { isUsers: false, owner: 'collector' };

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

// All that this thread holds, for audits: the registry above cannot be asked, and a map would cost
// each record more than the two links of this list.
let first: Held | undefined;

function list(held: Held): void {
  held.next = first;
  if (first) first.previous = held;
  first = held;
}

function unlist(held: Held): void {
  const { next, previous } = held;
  if (next) next.previous = previous;
  if (previous) previous.next = next;
  else first = next;
  // A disposed object may live on, and must not keep what was beside it.
  held.next = undefined;
  held.previous = undefined;
}

/** What is known of the handles of this thread. */
export function describeHeld(): ReadonlyMap<Handle, HeldFacts> {
  const facts = new Map<Handle, HeldFacts>();
  for (let held = first; held; held = held.next) {
    const { handle, what, stack, share, views = [] } = held;
    const { owner, open } = share;
    facts.set(handle, { what, owner, open, views: [...views].map((view) => view.what), stack });
  }
  return facts;
}

/** An answer of `describeHeld`. */
export interface HeldFacts extends RecordShare {
  readonly what: string;
  readonly views: readonly string[];
  readonly stack: string | undefined;
}

function listOf(views: readonly OpenView[]): string {
  if (views.length === 0) return '';
  const names = views.slice(0, mostListed).map((view) => view.what);
  const more = views.length - names.length;
  return `; open views: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function release(held: Held): void {
  const { handle, what, isRuntime } = held;
  const { binding } = environment();
  unlist(held);
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
  readonly #held: Held;
  #disposedAt: Error | undefined;

  constructor(holder: object | 'itself', handle: Handle, what: string, terms: RecordTerms = {}) {
    const { isUsers = true, isRuntime = false, owner = 'user', views } = terms;
    const share = terms.share ?? shares[owner];
    this.#handle = handle;
    const stack = warnLeaks && isUsers ? new Error('created here').stack : undefined;
    this.#held = {
      handle,
      what,
      stack,
      isUsers,
      isRuntime,
      views,
      share,
      next: undefined,
      previous: undefined,
    };
    forgotten.register(holder === 'itself' ? this : holder, this.#held, this);
    list(this.#held);
  }

  /** The handle. @throws DisposedError after `release` */
  use(api: string): Handle {
    if (this.#handle === 0) throw disposedError(api, this.#held.what, this.#disposedAt);
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
    return this.#held.what;
  }

  /** Gives the reference back; the second call does nothing. */
  release(): void {
    const handle = this.#handle;
    if (handle === 0) return;
    this.#handle = 0;
    if (warnLeaks) this.#disposedAt = new Error(`${this.#held.what} was disposed here`);
    forgotten.unregister(this);
    unlist(this.#held);
    try {
      const { binding } = environment();
      if (this.#held.isRuntime) binding.closeRuntime(handle);
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
