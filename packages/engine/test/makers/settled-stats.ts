import type { Engine, EngineStats } from '../../src/index.js';

/**
 * Counters when nothing is left to do: a step that runs when its last request ends gives that one's pages
 * back when it is over. What never gets there comes back as it is after a second.
 */
export async function settledStats(engine: Engine): Promise<EngineStats> {
  const end = performance.now() + 1000;
  for (;;) {
    const stats = engine.stats();
    const { pages, running, waiting } = stats;
    if (pages.pinned + running + waiting === 0 || performance.now() > end) return stats;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
