import type { Handle } from '../native/binding.js';
import {
  areLeaksWarned,
  disposedError,
  NativeRecord,
  type OpenView,
  type RecordShare,
} from '../native/record.js';

/** A wrapper that shares memory. */
interface View {
  /** For messages, e.g. `tensor f32 [2, 3]`. */
  describe(): string;
}

/**
 * The record of an allocation, shared by the buffer that allocated it and by the views of it: the
 * last one that is closed gives the memory back. Only the record itself is watched by the
 * collector, so a view costs a count; a forgotten one is released when the record is collected,
 * that is, when no wrapper is left that is open.
 */
export class SharedMemory extends NativeRecord {
  readonly #share: { -readonly [Fact in keyof RecordShare]: RecordShare[Fact] };
  // With warnings of leaks only: what to name in one. Views are keys, so they are not kept alive.
  readonly #views: Set<OpenView> | undefined;
  readonly #entries: WeakMap<View, OpenView> | undefined;

  /** Open once, for its buffer. */
  constructor(handle: Handle, what: string, owner: 'user' | 'graph' = 'user') {
    const views = areLeaksWarned() ? new Set<OpenView>() : undefined;
    const share = { owner, open: 1 };
    super('itself', handle, what, { views, share });
    this.#share = share;
    this.#views = views;
    this.#entries = views && new WeakMap();
  }

  /**
   * Views have no share: the memory is a workspace's, or a graph's, which takes and frees it at
   * launches; it goes whatever views there are.
   */
  get isLent(): boolean {
    return this.#share.owner !== 'user';
  }

  /** From now on it is a workspace's; called before there are views. */
  lend(): void {
    this.#share.owner = 'workspace';
  }

  /** One more wrapper, to be named in the warning if it is a view. */
  open(view?: View): void {
    this.#share.open += 1;
    if (view !== undefined && this.#views !== undefined) this.#note(view);
  }

  /** A wrapper is disposed; each calls this once. */
  close(view?: View): void {
    this.#share.open -= 1;
    if (view !== undefined && this.#views !== undefined) this.#forget(view);
    if (this.#share.open === 0) this.release();
  }

  #note(view: View): void {
    const entry = { what: view.describe(), stack: new Error('viewed here').stack };
    this.#views?.add(entry);
    this.#entries?.set(view, entry);
  }

  #forget(view: View): void {
    const entry = this.#entries?.get(view);
    if (entry) this.#views?.delete(entry);
  }
}

// Beside the wrappers, since nearly no process asks for them.
const disposals = new WeakMap<object, Error>();

/** Remembers where a wrapper is disposed, if leaks are warned of. */
export function noteDisposal<T extends object>(wrapper: T, nameOf: (wrapper: T) => string): void {
  if (areLeaksWarned()) disposals.set(wrapper, new Error(`${nameOf(wrapper)} was disposed here`));
}

/** The error for the use of a wrapper that was disposed, to throw. */
export function disposedView(api: string, wrapper: object, what: string): Error {
  return disposedError(api, what, disposals.get(wrapper));
}
