import { checkCallback, wrongKind } from '../arguments/faults.js';
import { hostRange } from './host-ranges.js';

/** Named ranges for Nsight Systems and for `runtime.trace`. */
export interface Nvtx {
  /**
   * Runs `body` as a range of the NVTX domain `cuda-runtime`, which also becomes a slice of the
   * `host` part of traces that are on. Ranges nest. The range ends when `body` returns: of an
   * `async` function it covers the part before the first `await`. Inside a capture it marks the
   * time of the capture; a replay runs no JavaScript and has no ranges.
   * Without a tool and without a trace it costs one comparison.
   */
  range<T>(name: string, body: () => T): T;
}

/** The one NVTX domain of the process. */
export const nvtx: Nvtx = {
  range(name, body) {
    if (typeof name !== 'string') throw wrongKind('nvtx.range', 'name', name, 'a string');
    checkCallback('nvtx.range', 'body', body);
    return hostRange(name, body);
  },
};
