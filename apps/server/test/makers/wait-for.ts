import { setTimeout as sleep } from 'node:timers/promises';

/** Looks every few milliseconds until it holds. @throws after a time that only a fault can take */
export async function waitFor(
  holds: () => boolean | Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      throw new Error(`it did not come true within ${withinMs / 1000} s: ${holds}`);
    }
    await sleep(5);
  }
}
