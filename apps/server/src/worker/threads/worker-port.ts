import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

/** What a worker has of the thread that started it. */
export interface WorkerPort<Options, Outgoing> {
  readonly port: MessagePort;
  /** What it was started with. */
  readonly options: Options;
  readonly post: (message: Outgoing) => void;
}

/** The way to the main thread. @throws Error in that thread: a worker's module is for no other */
export function workerPort<Options, Outgoing>(module: string): WorkerPort<Options, Outgoing> {
  const port = parentPort;
  if (!port) throw new Error(`${module} runs as a worker thread only`);
  return {
    port,
    options: workerData as Options,
    post: (message) => port.postMessage(message),
  };
}
