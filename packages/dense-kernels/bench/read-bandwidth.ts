// How fast threads of this machine read memory: the ceiling of a product with few tokens.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { BenchCeiling } from './run-bench.js';

const bytes = 80 * 2 ** 20; // two weights of the bench
const scans = 12;

/** Compares two equal halves: wide loads and nothing else; faster than a search for a byte. */
const reader = `
const { parentPort, workerData: { bytes, scans } } = require('node:worker_threads');
const [one, other] = [Buffer.alloc(bytes / 2, 1), Buffer.alloc(bytes / 2, 1)];
parentPort.on('message', () => {
  const times = Array.from({ length: scans }, () => {
    const start = performance.now();
    one.equals(other);
    return performance.now() - start;
  });
  parentPort.postMessage(Math.min(...times));
});
parentPort.postMessage('ready');
`;

/** Bytes read a second by all threads together, in TB/s. */
export const readCeiling: BenchCeiling = {
  name: 'readTBps',
  measure: async (threads) => {
    const options = { eval: true, workerData: { bytes, scans } };
    const workers = Array.from({ length: threads }, () => new Worker(reader, options));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const answers = workers.map((worker) => once(worker, 'message'));
    for (const worker of workers) worker.postMessage('go');
    const rates = (await Promise.all(answers)).map(([ms]) => bytes / Number(ms) / 1e9);
    await Promise.all(workers.map((worker) => worker.terminate()));
    return rates.reduce((sum, rate) => sum + rate, 0);
  },
};
