import { QueueFullError } from '../errors/queue-full-error.js';

/** What happens to a call on a stream with too many pending operations. */
export type QueuePolicy = 'throw' | 'block';

/** How far a stream may be ahead of the device. */
export interface QueueOptions {
  /** Most pending operations of a stream; a graph counts as one. */
  readonly maxPending: number;
  /** `throw`: `QueueFullError`, nothing is submitted. `block`: waits, on worker threads only. */
  readonly policy: QueuePolicy;
}

/** What the limit asks of its stream. */
export interface LimitedStream {
  pending(): number;
  /** What a capture records is pending nowhere, whatever the stream did before. */
  isCaptured(): boolean;
}

// Asking the addon for the count costs a call, so it is asked every so many operations only.
const interval = 64;

/**
 * CUDA blocks the thread that submits the 1023rd pending operation. This limit comes first, and
 * says so instead of blocking the event loop.
 */
export class PendingLimit {
  readonly #options: QueueOptions;
  readonly #name: string;
  readonly #stream: LimitedStream;
  #allowed = 0;

  constructor(options: QueueOptions, name: string, stream: LimitedStream) {
    this.#options = options;
    this.#name = name;
    this.#stream = stream;
  }

  /**
   * What `stream.ready` waits for by default: two thirds of the limit (512 of 768), so that there
   * is room again whatever the limit is, and for more than one operation.
   */
  get readyBelow(): number {
    return Math.max(1, Math.floor((this.#options.maxPending * 2) / 3));
  }

  /** Before an operation is submitted. @throws QueueFullError */
  admit(api: string): void {
    if (this.#allowed > 0) this.#allowed -= 1;
    else this.#measure(api);
  }

  #measure(api: string): void {
    const { maxPending, policy } = this.#options;
    let room = maxPending - this.#stream.pending();
    if (room <= 0 && this.#stream.isCaptured()) return;
    if (room <= 0 && policy === 'throw') throw this.#full(api, maxPending - room);
    while (room <= 0) {
      pause(1);
      room = maxPending - this.#stream.pending();
    }
    this.#allowed = Math.min(interval, room) - 1;
  }

  #full(api: string, pending: number): QueueFullError {
    return new QueueFullError({
      api,
      stream: this.#name,
      detail: `${pending} operations are pending, at most ${this.#options.maxPending} may be`,
      hint: 'Await `stream.ready()`, replay a graph instead of single launches, or raise `maxPending`',
    });
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

function pause(milliseconds: number): void {
  Atomics.wait(never, 0, 0, milliseconds);
}
