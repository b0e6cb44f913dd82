// Preloaded into a server process: answers over the channel to its parent what the process used so far.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send) {
  // The histogram counts from timer to timer, so a quiet loop shows the resolution itself.
  const delay = monitorEventLoopDelay({ resolution: Number(process.env.WATCH_RESOLUTION_MS) });
  delay.enable();
  process.on('message', ({ id, collectGarbage, reset }) => {
    if (collectGarbage) globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const milliseconds = (nanoseconds) => nanoseconds / 1e6;
    process.send({
      id,
      atMs: performance.now(),
      cpuMs: (user + system) / 1000,
      rssBytes: rss,
      heapBytes: heapUsed,
      handles: process.getActiveResourcesInfo().sort(),
      loopDelayMs: {
        p50: milliseconds(delay.percentile(50)),
        p99: milliseconds(delay.percentile(99)),
        max: milliseconds(delay.max),
      },
    });
    if (reset) delay.reset();
  });
  process.channel.unref();
}
