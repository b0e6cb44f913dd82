import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `body` beside a 5 ms timer.
 * @returns the longest time in milliseconds by which the timer was late
 */
export async function longestLateness(body: () => Promise<void>): Promise<number> {
  const period = 5;
  let longest = 0;
  let last = performance.now();
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last - period);
    last = now;
  };
  const timer = setInterval(look, period);
  await delay(2 * period);
  longest = 0;
  try {
    await body();
    look();
  } finally {
    clearInterval(timer);
  }
  return longest;
}
