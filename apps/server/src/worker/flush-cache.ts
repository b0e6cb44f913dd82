import type { Engine } from '@altstream/engine';

/** A step that is not over by then hangs, or nearly so, and an operator waits no longer for it. */
const patienceMs = 5000;

/**
 * Empties the prefix cache. An answer may end while a step that it is still part of runs on and
 * holds its pages, so this waits for the step under way, if not for ever.
 *
 * @returns pages that were given up
 */
export async function flushCache(
  engine: Pick<Engine, 'pagesReleased' | 'flushPrefixCache'>,
): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, patienceMs);
  });
  try {
    await Promise.race([engine.pagesReleased(), late]);
  } finally {
    clearTimeout(timer);
  }
  return engine.flushPrefixCache();
}
