import type { WireEvent, WireEvents } from '../messages.js';
import { isPlain } from './wire-events.js';

/**
 * Gathers the events of one step, so that they cross threads in one message: plain tokens as
 * numbers, since objects take ten times as long to copy, and what is more than that beside them.
 */
export class EventBatch {
  readonly #send: (events: WireEvents) => void;
  #requests: number[] = [];
  #tokens: number[] = [];
  #logprobs: number[] = [];
  #others: { before: number; id: number; event: WireEvent }[] = [];

  constructor(send: (events: WireEvents) => void) {
    this.#send = send;
  }

  add(id: number, event: WireEvent): void {
    // The engine delivers a whole step synchronously, so a microtask later the step is complete.
    if (this.#isEmpty) queueMicrotask(() => this.flush());
    if (isPlain(event)) {
      this.#requests.push(id);
      this.#tokens.push(event.id);
      this.#logprobs.push(event.logprob);
    } else this.#others.push({ before: this.#tokens.length, id, event });
  }

  flush(): void {
    if (this.#isEmpty) return;
    const events = {
      requests: Float64Array.from(this.#requests),
      tokens: Int32Array.from(this.#tokens),
      logprobs: Float64Array.from(this.#logprobs),
      others: this.#others,
    };
    this.#requests = [];
    this.#tokens = [];
    this.#logprobs = [];
    this.#others = [];
    this.#send(events);
  }

  get #isEmpty(): boolean {
    return this.#tokens.length + this.#others.length === 0;
  }
}
