// Preloaded into a server process: its engine worker begins with `losing-engine.mjs`.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const losing = new URL('./losing-engine.mjs', import.meta.url);

threads.Worker = class extends threads.Worker {
  constructor(url, options) {
    const isEngine = threads.isMainThread && options?.name === 'engine';
    if (isEngine) process.env.LOSE_DEVICE_ENGINE = String(url);
    super(isEngine ? losing : url, options);
  }
};
syncBuiltinESMExports();
