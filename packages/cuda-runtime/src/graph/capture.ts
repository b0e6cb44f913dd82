import { notRun, unfinished } from '../arguments/unfinished.js';
import type { CaptureOptions, Graph, Stream } from '../contract.js';
import { CaptureError } from '../errors/capture-error.js';
import { DisposedError } from '../errors/disposed-error.js';
import { shorten } from '../errors/short-text.js';
import { beginCapture, endCapture } from '../stream/capture-state.js';
import { hostRange } from '../trace/host-ranges.js';

/**
 * `device.capture`: runs `record` while `stream` captures. However it ends, the capture is over,
 * the current stream and the capture-mode count are as before, and the first error is thrown.
 */
export function captureGraph(
  stream: Stream,
  record: (stream: Stream) => void,
  options: CaptureOptions,
): Graph {
  return hostRange(`capture ${stream.name}`, () => capture(stream, record, options));
}

function capture(stream: Stream, record: (stream: Stream) => void, options: CaptureOptions): Graph {
  const { runtime } = stream;
  beginCapture(stream, options);
  const id = stream.captureId;
  try {
    const returned = runtime.withCaptureMode(() =>
      runtime.withStream(stream, () => unfinished(record(stream))),
    );
    if (stream.isDisposed) throw originDisposed(stream);
    if (returned !== undefined) throw notSynchronous(returned, id);
    return endCapture(stream);
  } catch (error) {
    // A disposed stream has left its capture, and asking it would hide the first error.
    if (!stream.isDisposed && stream.captureStatus !== 'none') stream.abortCapture();
    throw error;
  }
}

function originDisposed({ name, id }: Stream): DisposedError {
  return new DisposedError({
    api: 'device.capture',
    detail: `the callback disposed stream ${shorten(name)}#${id}, on which it is captured: there is no graph`,
    hint: 'Dispose it after the capture; launches of the graph do not need it',
  });
}

function notSynchronous(returned: string, captureId: bigint | undefined): CaptureError {
  const isGenerator = returned === 'a generator';
  const why = isGenerator ? notRun : 'an `await` would let other tasks record';
  return new CaptureError({
    code: 'CRT_CAPTURE_ASYNC',
    api: 'device.capture',
    captureId,
    detail: `the callback returned ${returned}, and ${why}`,
    hint: 'Make the callback synchronous: prepare before, await after',
  });
}
