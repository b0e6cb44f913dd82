import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { basename } from 'node:path';

/** The system's number of the thread that asks; undefined where it does not say. */
export function ownThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Milliseconds that a thread of this process has computed so far; undefined if nobody knows. */
export function threadTime(thread: number | undefined): number | undefined {
  if (thread === undefined) return undefined;
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return undefined;
  }
}

/** Reads the time of the thread that makes it, in a few microseconds. */
export class ThreadClock {
  readonly #file: number | undefined;
  readonly #bytes = Buffer.alloc(128);

  constructor() {
    try {
      this.#file = openSync('/proc/thread-self/schedstat', 'r');
    } catch {
      this.#file = undefined;
    }
  }

  /** Milliseconds that the thread has computed; by the clock where the system does not say. */
  now(): number {
    if (this.#file === undefined) return performance.now();
    const length = readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
    return Number.parseInt(this.#bytes.toString('latin1', 0, length), 10) / 1e6;
  }
}
