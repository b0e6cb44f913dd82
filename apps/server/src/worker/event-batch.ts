import type { WireEvent } from './messages.js';

interface Addressed {
  readonly id: number;
  readonly event: WireEvent;
}

/** Gathers the events of one step, so that they cross threads in one message. */
export class EventBatch {
  readonly #send: (events: readonly Addressed[]) => void;
  #events: Addressed[] = [];

  constructor(send: (events: readonly Addressed[]) => void) {
    this.#send = send;
  }

  add(id: number, event: WireEvent): void {
    // The engine delivers a whole step synchronously, so a microtask later the step is complete.
    if (this.#events.length === 0) queueMicrotask(() => this.flush());
    this.#events.push({ id, event });
  }

  flush(): void {
    if (this.#events.length === 0) return;
    const events = this.#events;
    this.#events = [];
    this.#send(events);
  }
}
