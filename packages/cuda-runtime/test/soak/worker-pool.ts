import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Counts } from './run-session.js';

/** How a worker's life ends. */
export const endings = ['finish', 'terminated', 'exit', 'capturing'] as const;

/** What a worker is told. */
export interface WorkerOrder {
  readonly backend: 'cpu' | 'cuda';
  readonly seed: number;
  readonly operations: number;
  readonly ending: (typeof endings)[number];
}

interface Message {
  readonly counts?: Counts;
  readonly failure?: string;
  readonly leaving?: boolean;
  readonly finished?: boolean;
}

/**
 * Starts a worker and resolves when it has ended as it was told to.
 * @throws Error if it failed or ended in another way
 */
export async function runWorker(
  order: WorkerOrder,
  progress: (counts: Counts) => void,
): Promise<void> {
  const worker = new Worker(new URL('../fixtures/worker.mjs', import.meta.url), {
    workerData: { ...order, program: new URL('./worker.ts', import.meta.url).href },
  });
  let failure: string | undefined;
  let hasLeft = false;
  let isFinished = false;
  worker.on('error', (error) => {
    failure = String(error instanceof Error ? error.stack : error);
  });
  worker.on('message', (message: Message) => {
    if (message.counts) progress(message.counts);
    failure ??= message.failure;
    isFinished ||= message.finished === true;
    if (!message.leaving) return;
    hasLeft = true;
    if (order.ending !== 'exit') void worker.terminate();
  });
  await once(worker, 'exit').catch(() => undefined);
  if (failure !== undefined) throw new Error(`worker ${JSON.stringify(order)}: ${failure}`);
  if (order.ending === 'finish' ? isFinished : hasLeft) return;
  throw new Error(`worker ${JSON.stringify(order)} ended too early`);
}
