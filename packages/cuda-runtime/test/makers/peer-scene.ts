import type { Graph, OpenOptions, Stream } from '../../src/index.js';
import { CudaRuntimeError } from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from './test-kernels.js';

/** A runtime and streams for the bugs of peers (specification 7). */
export interface PeerScene extends TestRuntime {
  readonly main: Stream;
  readonly side: Stream;
  readonly third: Stream;
}

/** Opens one. Dispose its runtime after the test. */
export async function openPeerScene(options: OpenOptions): Promise<PeerScene> {
  const t = await openTestRuntime(options);
  const [main, side, third] = ['main', 'side', 'third'].map((name) =>
    t.device.createStream({ name }),
  );
  if (!main || !side || !third) throw new Error('no streams');
  return { ...t, main, side, third };
}

/** CUDA's number of the error that a call throws; 0 when it succeeds. */
export function numberOf(call: () => unknown): number {
  const error = errorOf(call);
  return error === undefined ? 0 : (error.cuda?.number ?? -1);
}

/** The runtime's error that a call throws. */
export function errorOf(call: () => unknown): CudaRuntimeError | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    if (CudaRuntimeError.isInstance(error)) return error;
    throw error;
  }
}

/** A launch that does nothing. */
export function launchEmpty(t: TestRuntime, stream: Stream): void {
  stream.launch(t.kernels.empty, { grid: [1], block: [1] }, { tag: 0 });
}

/** Launches a graph once and waits for it. */
export async function replay(graph: Graph, stream: Stream): Promise<void> {
  const exec = graph.instantiateSync();
  exec.launch(stream);
  await stream.synchronize();
  exec.dispose();
}

/** Runs collections until `isDone`, or for two seconds. */
export async function collectUntil(isDone: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !isDone(); round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
