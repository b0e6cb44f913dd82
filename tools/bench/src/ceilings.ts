import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a bench is held against. */
export interface Ceiling {
  /** Name in the results, e.g. `readTBps`. */
  readonly name: string;
  /** TB/s of this many threads together. */
  measure(threads: number): Promise<number>;
}

/** As much as the weights of one layer: caches help the ceiling as far as they help a kernel. */
const readBytes = 192 * 2 ** 20;
const copyBytes = 128 * 2 ** 20;
const rounds = 10;

/** Reads two equal halves with wide loads; the comparison costs nothing beside the memory. */
const readTask = '() => halves[0].equals(halves[1])';
const copyTask = '() => halves[0].set(halves[1])';

/** Bytes read a second by all threads: the ceiling of a kernel that streams weights. */
export const readCeiling: Ceiling = {
  name: 'readTBps',
  measure: (threads) => bandwidth(threads, readBytes, readTask),
};

/** Bytes read plus written a second by all threads: the ceiling of an elementwise kernel. */
export const copyCeiling: Ceiling = {
  name: 'copyTBps',
  measure: (threads) => bandwidth(threads, copyBytes, copyTask),
};

/** The fastest of some passes over the halves of `bytes`, in milliseconds. */
function script(task: string): string {
  return `
const { parentPort, workerData: { bytes, rounds } } = require('node:worker_threads');
const halves = [Buffer.alloc(bytes / 2, 1), Buffer.alloc(bytes / 2, 1)];
const pass = ${task};
parentPort.on('message', () => {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    pass();
    return performance.now() - start;
  });
  parentPort.postMessage(Math.min(...times));
});
parentPort.postMessage('ready');
`;
}

/** TB/s of `threads` threads that pass over their shares of `total` bytes at the same time. */
async function bandwidth(threads: number, total: number, task: string): Promise<number> {
  const bytes = Math.ceil(total / threads / 4096) * 4096;
  const options = { eval: true, workerData: { bytes, rounds } };
  const workers = Array.from({ length: threads }, () => new Worker(script(task), options));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const answers = workers.map((worker) => once(worker, 'message'));
  for (const worker of workers) worker.postMessage('go');
  const rates = (await Promise.all(answers)).map(([ms]) => bytes / Number(ms) / 1e9);
  await Promise.all(workers.map((worker) => worker.terminate()));
  return rates.reduce((sum, rate) => sum + rate, 0);
}
