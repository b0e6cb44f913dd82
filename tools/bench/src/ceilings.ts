import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a bench is held against. */
export interface Ceiling {
  /** Name in the results, e.g. `readTBps`. */
  readonly name: string;
  /** TB/s with this many threads. */
  measure(threads: number): Promise<number>;
}

const readBytes = 192 * 2 ** 20;
const copyBytes = 2 ** 26;
const rounds = 6;

/** Looks for a byte that is not there: wide loads and nothing else. */
const reader = `
const { parentPort, workerData: { bytes, rounds } } = require('node:worker_threads');
const memory = Buffer.alloc(bytes, 1);
parentPort.on('message', () => {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    memory.indexOf(2);
    return performance.now() - start;
  });
  parentPort.postMessage(Math.min(...times));
});
parentPort.postMessage('ready');
`;

/** Bytes read a second by all threads together: the ceiling of a kernel that streams weights. */
export const readCeiling: Ceiling = {
  name: 'readTBps',
  measure: async (threads) => {
    const options = { eval: true, workerData: { bytes: readBytes, rounds } };
    const workers = Array.from({ length: threads }, () => new Worker(reader, options));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const answers = workers.map((worker) => once(worker, 'message'));
    for (const worker of workers) worker.postMessage('go');
    const rates = (await Promise.all(answers)).map(([ms]) => readBytes / Number(ms) / 1e9);
    await Promise.all(workers.map((worker) => worker.terminate()));
    return rates.reduce((sum, rate) => sum + rate, 0);
  },
};

/** Bytes read plus written a second by one thread's copy: the ceiling of an elementwise kernel. */
export const copyCeiling: Ceiling = {
  name: 'copyTBps',
  measure: async () => {
    const from = new Uint8Array(copyBytes).fill(1);
    const to = new Uint8Array(copyBytes);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      to.set(from);
      best = Math.min(best, performance.now() - start);
    }
    return (2 * copyBytes) / best / 1e9;
  },
};
