import type { Stream, TensorAllocator } from '@altstream/cuda-runtime';
import { poison } from '@altstream/cuda-runtime/testing';

/**
 * Allocates from the stream and fills with 0xA5, so that what a kernel forgets to write is seen.
 */
export function poisoned(stream: Stream): TensorAllocator {
  return {
    tensor(shape, dtype, label) {
      const tensor = stream.tensor(shape, dtype, label);
      if (tensor.elements > 0) poison(stream, tensor);
      return tensor;
    },
  };
}
