import { threadClock } from './thread-time.js';

/** What a thread may take for one thing. */
export interface ThreadLimit {
  /** Of its own time: on a busy machine nothing must fail for want of a processor. */
  readonly limitMs: number;
  /** Of the clock, however little the thread got. */
  readonly mostWaitMs: number;
}

/**
 * Calls back when the thread has computed for longer than the limit, from now on.
 *
 * @param thread the system's number of the thread; undefined = the clock is all there is
 * @returns ends the watch
 */
export function limitThread(
  thread: number | undefined,
  { limitMs, mostWaitMs }: ThreadLimit,
  onOver: () => void,
): () => void {
  const timeOf = threadClock(thread);
  const started = { at: performance.now(), time: timeOf() };
  let timer: NodeJS.Timeout | undefined;
  const look = (ms: number): void => {
    timer = setTimeout(() => {
      const left = limitMs - (timeOf() - started.time);
      if (left > 0 && performance.now() - started.at < mostWaitMs) look(Math.max(50, left));
      else onOver();
    }, ms);
  };
  look(limitMs);
  return () => clearTimeout(timer);
}
