import type { Stream, TensorAllocator } from '../contract.js';

/** What an operation of a kernel package takes besides its tensors. */
export interface OperationOptions {
  /** The work is enqueued here; the call returns before it is done. */
  readonly stream: Stream;
  /** Makes outputs and scratch; default: the stream. A `Workspace` keeps addresses for graphs. */
  readonly allocator?: TensorAllocator | undefined;
}
