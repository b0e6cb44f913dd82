import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** How well a thread runs. */
export interface ThreadHealth {
  /**
   * How late its event loop was at worst since the last look, but for one time in a hundred;
   * seconds.
   */
  readonly lagSeconds: number;
  /** Time that it stood still for garbage, since its start; seconds. */
  readonly gcSeconds: number;
}

const resolutionMs = 10;

/** Watches the thread that calls it. @returns the look */
export function watchThread(): () => ThreadHealth {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  let gcMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) gcMs += duration;
  }).observe({ entryTypes: ['gc'] });
  return () => {
    // The timer of the histogram itself is that far from being late.
    const lateMs = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
    delays.reset();
    return { lagSeconds: Number.isFinite(lateMs) ? lateMs / 1000 : 0, gcSeconds: gcMs / 1000 };
  };
}
