import { checkFunction, wrongKind } from '../arguments/faults.js';
import type { CaptureOptions, GraphExec, Stream } from '../contract.js';
import { CaptureError } from '../errors/capture-error.js';
import type { CudaRuntimeError } from '../errors/cuda-runtime-error.js';
import { GraphInstantiateError } from '../errors/graph-instantiate-error.js';
import { GraphLifetimeError } from '../errors/graph-lifetime-error.js';
import { suppress } from '../errors/suppress.js';
import { checkCaptureOptions } from '../stream/capture-state.js';
import { captureGraph } from './capture.js';

/** How `captureOrRun` did the work. */
export type CapturedOrRun =
  | {
      /** Captured, and launched once on the stream. */
      readonly ran: 'graph';
      /** For further launches; the caller disposes it. */
      readonly exec: GraphExec;
    }
  | {
      /** Submitted operation by operation: a capture was not possible this time. */
      readonly ran: 'eager';
      /** Why; a later call may succeed. */
      readonly reason: CudaRuntimeError;
    };

/**
 * Captures `work` on `stream` and launches the graph once; when it cannot be captured, runs `work`
 * eagerly instead. Either way its operations take effect on the device exactly once: a capture that
 * failed has executed nothing, and its `notify` callbacks are forgotten. `work` itself is called a
 * second time then, so it should do nothing but submit (docs/capture.md).
 * @throws what `work` throws that is no refusal of the capture; CaptureError `CRT_CAPTURE_ASYNC`
 * for a promise, since what follows its `await` would run twice, and for a generator; what the
 * launch throws
 */
export function captureOrRun(
  stream: Stream,
  work: (stream: Stream) => void,
  options: CaptureOptions = {},
): CapturedOrRun {
  const api = 'captureOrRun';
  if (typeof stream?.beginCapture !== 'function')
    throw wrongKind(api, 'stream', stream, 'a stream');
  checkFunction(api, 'work', work);
  checkCaptureOptions(api, options);
  const exec = tryCapture(stream, work, options);
  if (!('launch' in exec)) return runEagerly(stream, work, exec);
  try {
    exec.launch(stream);
  } catch (error) {
    exec.dispose();
    throw error;
  }
  return { ran: 'graph', exec };
}

function tryCapture(
  stream: Stream,
  work: (stream: Stream) => void,
  options: CaptureOptions,
): GraphExec | CudaRuntimeError {
  try {
    const graph = captureGraph(stream, work, options);
    try {
      return graph.instantiateSync();
    } finally {
      graph.dispose();
    }
  } catch (error) {
    if (isRefusal(error)) return error;
    throw error;
  }
}

function runEagerly(
  stream: Stream,
  work: (stream: Stream) => void,
  reason: CudaRuntimeError,
): CapturedOrRun {
  try {
    stream.runtime.withStream(stream, () => work(stream));
  } catch (error) {
    throw suppress([error, reason]);
  }
  return { ran: 'eager', reason };
}

// Only what says that this work cannot be a graph now; everything else would fail eagerly too.
function isRefusal(error: unknown): error is CudaRuntimeError {
  if (CaptureError.isInstance(error)) return error.code !== 'CRT_CAPTURE_ASYNC';
  return GraphInstantiateError.isInstance(error) || GraphLifetimeError.isInstance(error);
}
