import { type OwningRuntime, wrongKind, wrongRuntime } from '../arguments/faults.js';
import { checkSignalOnly } from '../arguments/options.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';

const states = ['unrecorded', 'pending', 'complete', 'captured', 'stale'] as const;

/** What an event stands for at the moment. `stale`: captured in a sequence that has ended. */
export type EventState = (typeof states)[number];

/** A point in a stream, set by `stream.record`; recording again replaces it. */
export class Event implements Disposable {
  /** Whether `elapsedMs` can use it. */
  readonly timing: boolean;
  /** The runtime that it belongs to. */
  readonly owner: OwningRuntime;
  readonly #record: NativeRecord;

  /** @internal Made by `device.createEvent` or `stream.record`. */
  constructor(owner: OwningRuntime, handle: Handle, timing: boolean) {
    this.owner = owner;
    this.timing = timing;
    this.#record = new NativeRecord(this, handle, 'event');
  }

  /** @internal The native handle. @throws DisposedError */
  use(api: string): Handle {
    if (!(#record in this)) throw notTheObject(api, 'event');
    return this.#record.use(api);
  }

  /**
   * Milliseconds from `start` to `end`; negative if they are in the other order.
   * @throws EventStateError if one is not recorded, has no timing, is not complete or is stale;
   * BackendMismatchError for events of two runtimes
   */
  static elapsedMs(start: Event, end: Event): number {
    const api = 'Event.elapsedMs';
    if (!(start instanceof Event)) throw wrongKind(api, 'start', start, 'an event');
    if (!(end instanceof Event)) throw wrongKind(api, 'end', end, 'an event');
    if (start.owner !== end.owner) throw wrongRuntime(api, 'end', start.owner);
    return guarded(() => environment().binding.eventElapsedMs(start.use(api), end.use(api)));
  }

  /** Read from our own records; never disturbs a capture. */
  get state(): EventState {
    const state = guarded(() => environment().binding.eventState(this.use('event.state')));
    return states[state] ?? 'stale';
  }

  /**
   * True when complete or never recorded. @throws CaptureError, EventStateError when captured or
   * stale
   */
  isDone(): boolean {
    return guarded(() => environment().binding.eventQuery(this.use('event.isDone')));
  }

  /** Resolves when complete. */
  async done(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkSignalOnly('event.done', options);
    const handle = this.use('event.done');
    const { binding, completions } = environment();
    await completions.wait(
      (token) => guarded(() => binding.eventDone(handle, token)),
      options.signal,
    );
  }

  /** Blocks this thread until complete. */
  waitSync(): void {
    guarded(() => environment().binding.eventWaitSync(this.use('event.waitSync')));
  }

  /** Ends this object; waits that were already submitted keep what they saw. */
  dispose(): void {
    if (!(#record in this)) throw notTheObject('event.dispose', 'event');
    this.#record.release();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
