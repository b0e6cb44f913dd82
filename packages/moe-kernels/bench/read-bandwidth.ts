// The ceiling of a kernel that streams weights: how fast this machine reads memory.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const bytesPerThread = 192 * 2 ** 20; // well beyond the last-level cache's share of a core
const scans = 6;

/** memchr over memory that has no such byte: wide loads and nothing else. */
const scan = `
  const { parentPort, workerData } = require('node:worker_threads');
  const memory = Buffer.alloc(workerData.bytes, 1);
  parentPort.once('message', () => {
    let best = Infinity;
    for (let i = 0; i < workerData.scans; i += 1) {
      const start = performance.now();
      if (memory.indexOf(2) !== -1) throw new Error('found what is not there');
      best = Math.min(best, performance.now() - start);
    }
    parentPort.postMessage(best);
  });
  parentPort.postMessage('ready');
`;

/** Bytes read a second by `threads` threads at once, in GB/s; best of six scans a thread. */
export async function readBandwidth(threads: number): Promise<number> {
  const workers = Array.from(
    { length: threads },
    () => new Worker(scan, { eval: true, workerData: { bytes: bytesPerThread, scans } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const times = workers.map((worker) => once(worker, 'message'));
  for (const worker of workers) worker.postMessage('start');
  const milliseconds = (await Promise.all(times)).map(([time]) => Number(time));
  await Promise.all(workers.map((worker) => worker.terminate()));
  return milliseconds.reduce((sum, time) => sum + bytesPerThread / time / 1e6, 0);
}
