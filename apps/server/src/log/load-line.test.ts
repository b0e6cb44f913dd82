import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { idleStats } from '../../test/metrics/idle-stats.js';
import { ServerMetrics } from '../metrics/server-metrics.js';
import type { ServerContext } from '../server-context.js';
import { logLoad } from './load-line.js';

const idle = {
  ...idleStats,
  pages: { total: 8, free: 4, evictable: 2, pinned: 2, reserved: 2 },
  prefixCache: { queries: 4, hits: 1 },
  scheduling: { ...idleStats.scheduling, preemptions: 3 },
};

describe('the line of load', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it('comes every ten seconds while there is work, and once after it', async () => {
    const info = vi.fn();
    let stats = idle;
    const engine = { state: 'ready', stats: async () => stats };
    const metrics = new ServerMetrics('m');
    const stop = logLoad({ engine, metrics, logger: { info } } as unknown as ServerContext);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(info).not.toHaveBeenCalled();
    stats = { ...idle, running: 2, waiting: 1, waitingTokens: 9, steps: 5 };
    await vi.advanceTimersByTimeAsync(20_000);
    expect(info).toHaveBeenCalledTimes(2);
    expect(info.mock.lastCall).toEqual([
      {
        running: 2,
        waiting: 1,
        waitingTokens: 9,
        cacheShare: 0.25,
        hitShare: 0.25,
        promptTokensPerSecond: 0,
        generatedTokensPerSecond: 0,
        preemptions: 3,
      },
      'load',
    ]);
    stats = { ...idle, steps: 7 };
    await vi.advanceTimersByTimeAsync(30_000);
    expect(info).toHaveBeenCalledTimes(3);
    stop();
  });

  it('ends with the engine', async () => {
    const info = vi.fn();
    const engine = { state: 'ready', stats: () => Promise.reject(new Error('gone')) };
    const context = { engine, metrics: new ServerMetrics('m'), logger: { info } };
    const stop = logLoad(context as unknown as ServerContext);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(info).not.toHaveBeenCalled();
    stop();
  });
});
