import { readFileSync, readlinkSync } from 'node:fs';
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
