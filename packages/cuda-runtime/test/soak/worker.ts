/** A thread of the soak: works on a runtime of its own and ends in one of several ways. */
import { parentPort, workerData } from 'node:worker_threads';
import { openTestRuntime } from '../makers/test-kernels.js';
import { PlannedError } from './actions/act.js';
import { exposeCollector } from './collector.js';
import { runSession } from './run-session.js';
import type { WorkerOrder } from './worker-pool.js';

const { backend, seed, operations, ending } = workerData as WorkerOrder;
exposeCollector();
process.on('uncaughtException', (error) => {
  if (error instanceof PlannedError) return;
  parentPort?.postMessage({ failure: error.stack });
  process.exit(1);
});
const t = await openTestRuntime({ backend, isolated: false });
let done = 0;
await runSession(t, { seed, operations, isShared: true }, (counts) => {
  parentPort?.postMessage({ counts });
  done += Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (done > operations / 2 && ending !== 'finish') leave();
});
parentPort?.postMessage({ finished: true });
await t.runtime.dispose();

// In the middle of everything: streams, graphs, promises and memory are in use.
function leave(): void {
  const stream = t.device.createStream();
  if (ending === 'capturing') {
    stream.beginCapture();
    stream.fill(stream.tensor([100], 'i32'), 1);
  }
  for (let index = 0; index < 20; index += 1) {
    const y = t.device.alloc(4096);
    if (ending !== 'capturing') void stream.read(y, new Uint8Array(4096)).catch(() => undefined);
  }
  parentPort?.postMessage({ leaving: true });
  if (ending === 'exit') process.exit(0);
  stand();
}

// Until the other side terminates this thread.
function stand(): void {
  const word = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < 1000; round += 1) Atomics.wait(word, 0, 0, 20);
}
