import type { WireEvent, WireEvents } from '../messages.js';
import { eventsOf } from './wire-events.js';

/** The event loop's other work waits no longer than this for events of one turn. */
const turnMs = 4;
/** A look at the clock costs as much as a small event. */
const eventsBetweenLooks = 16;

/** What an inbox tells. */
export interface InboxReaders {
  readonly onEvent: (id: number, event: WireEvent) => void;
  /** A whole message was dealt with. */
  readonly onDone: () => void;
}

/**
 * Messages of events, dealt with for some milliseconds a turn of the event loop. A message port
 * hands over all that is there before sockets and timers have their turn, and an engine that is
 * answered at once always has more.
 */
export class Inbox {
  readonly #readers: InboxReaders;
  readonly #messages: Iterator<readonly [number, WireEvent]>[] = [];
  #turnEnd: number | undefined;

  constructor(readers: InboxReaders) {
    this.#readers = readers;
  }

  add(message: WireEvents): void {
    this.#messages.push(eventsOf(message));
    this.#deliver();
  }

  /** Deals with all that is there, now. */
  flush(): void {
    this.#deliverUntil(Number.POSITIVE_INFINITY);
  }

  #deliver(): void {
    if (this.#turnEnd === undefined) {
      this.#turnEnd = performance.now() + turnMs;
      setImmediate(() => {
        this.#turnEnd = undefined;
        if (this.#messages.length > 0) this.#deliver();
      });
    }
    this.#deliverUntil(this.#turnEnd);
  }

  #deliverUntil(end: number): void {
    const { onEvent, onDone } = this.#readers;
    let count = 0;
    for (;;) {
      const [message] = this.#messages;
      if (!message) return;
      if (count % eventsBetweenLooks === 0 && performance.now() >= end) return;
      count += 1;
      const next = message.next();
      if (next.done) {
        this.#messages.shift();
        onDone();
      } else onEvent(...next.value);
    }
  }
}
