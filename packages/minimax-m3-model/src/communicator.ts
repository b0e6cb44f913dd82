/** What tensor parallelism needs from the outside. */

import type { Stream, Tensor } from '@altstream/cuda-runtime';

/** The ranks of a tensor-parallel group, seen from one of them. */
export interface Communicator {
  /** Replaces `tensor` on every rank by the sum over all ranks, in order on `stream`. */
  allReduce(tensor: Tensor, stream: Stream): void;
}
