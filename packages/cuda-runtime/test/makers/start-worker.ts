import { Worker } from 'node:worker_threads';

/** Starts a TypeScript program of `test/fixtures` in a worker. */
export function startWorker(program: string, data: Readonly<Record<string, unknown>>): Worker {
  return new Worker(new URL('../fixtures/worker.mjs', import.meta.url), {
    workerData: { program: `./${program}`, ...data },
  });
}
