// Preloaded into a server process: SIGWINCH ends the engine's worker thread, as a crash would.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

threads.Worker = class extends threads.Worker {
  constructor(url, options) {
    super(url, options);
    if (options?.name === 'engine') process.once('SIGWINCH', () => this.terminate());
  }
};
syncBuiltinESMExports();
