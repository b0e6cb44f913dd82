import type { Stream, TensorAllocator } from '../contract.js';

/** What an operation of a kernel package takes besides its tensors. */
export interface OperationOptions {
  /** The work is enqueued here; the call returns before it is done. */
  readonly stream: Stream;
  /** Makes outputs and scratch; default: the stream. A `Workspace` keeps addresses for graphs. */
  readonly allocator?: TensorAllocator | undefined;
  /**
   * Launches programmatically the kernels that wait themselves: they may start, and ask for their
   * weights, before their predecessor in the stream has ended. Needs a GPU of compute capability
   * 9.0, or the CPU backend. Weights must not be written by that predecessor. Default false.
   */
  readonly programmatic?: boolean | undefined;
}
