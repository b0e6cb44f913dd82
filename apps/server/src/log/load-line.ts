import type { ServerContext } from '../server-context.js';
import type { WorkerStats } from '../worker/messages.js';

const everyMs = 10_000;

/** Where the server stands, for a line of the log. */
export function loadLine(stats: WorkerStats, { metrics }: Pick<ServerContext, 'metrics'>) {
  const { running, waiting, waitingTokens, pages, prefixCache, scheduling } = stats;
  const { rate, promptRate } = metrics.requests;
  return {
    running,
    waiting,
    waitingTokens,
    cacheShare: round((pages.total - pages.free - pages.evictable) / pages.total),
    hitShare: round(prefixCache.queries > 0 ? prefixCache.hits / prefixCache.queries : 0),
    promptTokensPerSecond: round(promptRate.perSecond),
    generatedTokensPerSecond: round(rate.perSecond),
    preemptions: scheduling.preemptions,
  };
}

/** Logs a line every ten seconds while there is work. @returns ends it */
export function logLoad(context: ServerContext): () => void {
  let steps = 0;
  const timer = setInterval(async () => {
    if (context.engine.state !== 'ready') return;
    try {
      const stats = await context.engine.stats();
      const isBusy = stats.running + stats.waiting > 0 || stats.steps > steps;
      steps = stats.steps;
      if (isBusy) context.logger.info(loadLine(stats, context), 'load');
    } catch {
      // An engine that ended meanwhile has said so itself.
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
