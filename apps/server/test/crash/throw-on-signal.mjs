// Preloaded into a server process: SIGWINCH is a bug on the main thread, whose error quotes a
// client.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.once('SIGWINCH', () => {
    JSON.parse(`{"messages": ${process.env.THROWN_TEXT}}`);
  });
}
