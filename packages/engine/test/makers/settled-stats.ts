import type { Engine, EngineStats } from '../../src/index.js';

/**
 * Counters when nothing is left to do: a step that runs when its last request ends gives that one's
 * pages back when it is over.
 */
export async function settledStats(engine: Engine): Promise<EngineStats> {
  await engine.idle();
  return engine.stats();
}
