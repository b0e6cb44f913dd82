import { setImmediate as nextTurn } from 'node:timers/promises';

/** Looks once a turn until it holds. @throws after a time that only a fault can take */
export async function until(holds: () => boolean, withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) {
      throw new Error(`it did not come true within ${withinMs / 1000} s: ${holds}`);
    }
    await nextTurn();
  }
}
