// Preloaded into a server process: its engine, once it is ready, meets device calls that fail, one
// in so many.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

if (threads.isMainThread) {
  const faulty = new URL('./faulty-engine-worker.mjs', import.meta.url);
  threads.Worker = class extends threads.Worker {
    constructor(url, options) {
      const isEngine = options?.name === 'engine';
      if (isEngine) process.env.FAULTY_ENGINE = String(url);
      super(isEngine ? faulty : url, options);
    }
  };
  syncBuiltinESMExports();
}
