import { fromCompletion } from '../errors/from-native.js';
import { offAbort, onAbort } from './abort-listeners.js';

/** Ends a promise that waits. */
interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

/** Counts callbacks that were not called, since the work before them failed. */
export interface DropCount {
  dropped: number;
}

/** A callback for a token, and who counts that it was not called. */
interface Notified {
  readonly call: () => void;
  readonly isOnce: boolean;
  readonly drops: DropCount | undefined;
}

/** Passes completions of foreign threads to the promises and callbacks that wait for them. */
export class Completions {
  readonly #waiting = new Map<number, Waiter>();
  readonly #notified = new Map<number, Notified>();
  readonly #watched = new Map<number, (error: unknown) => void>();
  readonly #keepAlive: (on: boolean) => void;
  #next = 1;
  #dropped = 0;

  /** @param keepAlive told `true` while promises are outstanding, so that the process waits */
  constructor(keepAlive: (on: boolean) => void) {
    this.#keepAlive = keepAlive;
  }

  /** Completions that arrived after their owner was gone. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Starts native work with a fresh token and resolves when the token comes back.
   * @param signal gives up the wait with an `AbortError`, whose `cause` is the signal's reason; the
   *   native work goes on
   */
  wait(start: (token: number) => void, signal?: AbortSignal): Promise<void> {
    return signal ? this.#waitOrGiveUp(start, signal) : this.#wait(start);
  }

  /** Registers a callback that is called once, and kept until then. */
  notify(callback: () => void, drops?: DropCount): number {
    const token = this.#token();
    this.#notified.set(token, { call: callback, isOnce: true, drops });
    return token;
  }

  /**
   * Registers a callback that is called whenever its token comes. A graph keeps it; here it is held
   * weakly, so that a callback that refers to its graph keeps neither alive.
   */
  notifyOften(callback: () => void, drops?: DropCount): number {
    const token = this.#token();
    this.#notified.set(token, { call: weakly(callback), isOnce: false, drops });
    return token;
  }

  /** Registers who is told once of a failure; holds nothing. */
  watch(callback: (error: unknown) => void): number {
    const token = this.#token();
    this.#watched.set(token, callback);
    return token;
  }

  /** Forgets a callback registered with `notify` or `watch`. */
  cancel(token: number): void {
    this.#notified.delete(token);
    this.#watched.delete(token);
  }

  /** The addon calls this on the JS thread; a token is settled at most once. */
  readonly handle = (token: number, status: string): void => {
    const waiter = this.#waiting.get(token);
    if (waiter) {
      this.#forget(token);
      if (status === '') waiter.resolve();
      else waiter.reject(fromCompletion(status));
      return;
    }
    const watching = this.#watched.get(token);
    if (watching) {
      this.cancel(token);
      watching(fromCompletion(status));
      return;
    }
    const notified = this.#notified.get(token);
    if (!notified) {
      this.#dropped += 1;
      return;
    }
    if (notified.isOnce) this.#notified.delete(token);
    if (status === '') notified.call();
    else dropNotification(notified, status);
  };

  #wait(start: (token: number) => void): Promise<void> {
    const promise = new Promise<void>(take);
    this.#begin(this.#token(), start, taken);
    return promise;
  }

  #waitOrGiveUp(start: (token: number) => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortError(signal));
      const token = this.#token();
      const giveUp = () => {
        if (this.#forget(token)) reject(abortError(signal));
      };
      // First: what throws here must leave nothing that holds the process.
      onAbort(signal, giveUp);
      this.#begin(token, start, {
        resolve: () => {
          offAbort(signal, giveUp);
          resolve();
        },
        reject: (error) => {
          offAbort(signal, giveUp);
          reject(error);
        },
      });
    });
  }

  #begin(token: number, start: (token: number) => void, waiter: Waiter): void {
    this.#remember(token, waiter);
    try {
      start(token);
    } catch (error) {
      if (this.#forget(token)) waiter.reject(error);
    }
  }

  #remember(token: number, waiter: Waiter): void {
    if (this.#waiting.size === 0) this.#keepAlive(true);
    this.#waiting.set(token, waiter);
  }

  #forget(token: number): boolean {
    const known = this.#waiting.delete(token);
    if (known && this.#waiting.size === 0) this.#keepAlive(false);
    return known;
  }

  #token(): number {
    const token = this.#next;
    // Tokens are 32-bit in the addon. 2^31 of them take days; a collision would need one to be
    // outstanding for all that time.
    this.#next = token === 0x7fff_ffff ? 1 : token + 1;
    return token;
  }
}

function dropNotification({ drops }: Notified, status: string): void {
  if (drops) drops.dropped += 1;
  fromCompletion(status); // whoever listens to the diagnostics of lost devices is told
}

// How the promise that was made last is ended. One function for all of them, and no other for each:
// an engine waits at each step.
let taken: Waiter;

function take(resolve: () => void, reject: (error: unknown) => void): void {
  taken = { resolve, reject };
}

// A function of its own: closures of one function share what they capture.
function weakly(callback: () => void): () => void {
  const kept = new WeakRef(callback);
  return () => kept.deref()?.();
}

function abortError(signal: AbortSignal | undefined): unknown {
  const reason: unknown = signal?.reason;
  if (reason instanceof DOMException && reason.name === 'AbortError') return reason;
  const text = 'the wait was given up; the work on the device goes on';
  // The browser's types know no options, and pages of a server may see these sources.
  const error = new DOMException(text, 'AbortError');
  return Object.defineProperty(error, 'cause', { value: reason, configurable: true });
}
