import { setImmediate } from 'node:timers';

/**
 * The next turn of the event loop. As `setImmediate` of `node:timers/promises`, which allocates
 * 200 bytes more, and a step loop takes a turn at each step.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
