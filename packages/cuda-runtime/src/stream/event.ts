import { type OwningRuntime, wrongKind, wrongRuntime } from '../arguments/faults.js';
import { checkSignalOnly } from '../arguments/options.js';
import { notTheObject } from '../errors/not-the-object.js';
import type { Handle } from '../native/binding.js';
import { environment } from '../native/environment.js';
import { guarded } from '../native/guarded.js';
import { NativeRecord } from '../native/record.js';
import { type Checked, checkRacesBehind } from '../races.js';

const states = ['unrecorded', 'pending', 'complete', 'captured', 'stale'] as const;

/** What an event stands for at the moment. `stale`: captured in a sequence that has ended. */
export type EventState = (typeof states)[number];

/** What an event needs of its runtime. */
type EventOwner = OwningRuntime & Checked;

/** A point in a stream, set by `stream.record`; recording again replaces it. */
export class Event implements Disposable {
  /** Whether `elapsedMs` can use it. */
  readonly timing: boolean;
  /** The runtime that it belongs to. */
  readonly owner: EventOwner;
  readonly #record: NativeRecord;

  /** @internal Made by `device.createEvent` or `stream.record`. */
  constructor(owner: EventOwner, handle: Handle, timing: boolean) {
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

  /** Resolves when complete. @throws RaceError with the CPU backend's race checker */
  async done(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const api = 'event.done';
    checkSignalOnly(api, options);
    const handle = this.use(api);
    const { binding, completions } = environment();
    await completions.wait(
      (token) => guarded(() => binding.eventDone(handle, token)),
      options.signal,
    );
    checkRacesBehind(this.owner, api);
  }

  /** Blocks this thread until complete. @throws as `done` */
  waitSync(): void {
    const api = 'event.waitSync';
    guarded(() => environment().binding.eventWaitSync(this.use(api)));
    checkRacesBehind(this.owner, api);
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
