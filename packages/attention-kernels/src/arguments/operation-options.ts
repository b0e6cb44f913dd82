import type { Stream, TensorAllocator } from '@altstream/cuda-runtime';

/** Where an operation runs and where its outputs come from. */
export interface OperationOptions {
  /** The stream that the work is enqueued on. */
  readonly stream: Stream;
  /** Makes outputs and scratch; default: the stream, an allocation each. */
  readonly allocator?: TensorAllocator;
}
