import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { basename } from 'node:path';

/** Where the system tells of this process' threads. */
const tasksFolder = '/proc/self/task';

/** The system's number of the thread that asks; undefined where it does not say. */
export function ownThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds that a thread of this process has computed so far; undefined if nobody knows, as on
 * a kernel that counts no such times: there they are all 0.
 */
export function threadTime(thread: number | undefined, tasks = tasksFolder): number | undefined {
  if (thread === undefined) return undefined;
  try {
    return parseTime(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * A clock of a thread: the time that it computed, or all time where the system does not say. Which
 * of them is settled here, so that two readings can be compared.
 *
 * @returns reads it, in milliseconds; infinite when the thread is no more
 */
export function threadClock(thread: number | undefined, tasks = tasksFolder): () => number {
  if (threadTime(thread, tasks) === undefined) return () => performance.now();
  return () => threadTime(thread, tasks) ?? Number.POSITIVE_INFINITY;
}

/** Whether the times of threads are known here. */
export function knowsThreadTimes(tasks = tasksFolder): boolean {
  return threadTime(ownThread(), tasks) !== undefined;
}

/** Reads the time of the thread that makes it, in a few microseconds. */
export class ThreadClock {
  #file: number | undefined;
  readonly #bytes = Buffer.alloc(128);

  constructor(file = '/proc/thread-self/schedstat') {
    try {
      this.#file = openSync(file, 'r');
      if (this.#read() === undefined) this.#close();
    } catch {
      this.#file = undefined;
    }
  }

  /** Milliseconds that the thread has computed; by the clock where the system does not say. */
  now(): number {
    return this.#read() ?? performance.now();
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #read(): number | undefined {
    if (this.#file === undefined) return undefined;
    const length = readSync(this.#file, this.#bytes, 0, this.#bytes.length, 0);
    return parseTime(this.#bytes.toString('latin1', 0, length));
  }
}

/** @param schedstat nanoseconds computed, nanoseconds waited, turns */
function parseTime(schedstat: string): number | undefined {
  const nanoseconds = Number.parseInt(schedstat, 10);
  return nanoseconds > 0 ? nanoseconds / 1e6 : undefined;
}
