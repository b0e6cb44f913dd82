// What the argument checks of this package's operations have in common.
import { ArgumentChecks, type DType, type Stream } from '@altstream/cuda-runtime';
import { ArgumentRangeError, DeviceError, DTypeError, ShapeError } from '../errors/index.js';

/** Element types of activations and caches. */
export const activationDTypes: readonly DType[] = ['bf16', 'f32'];

/** Elements of a head that the kernels hold on their stack. */
export const maxHeadDim = 512;

const errors = { ArgumentRangeError, DeviceError, DTypeError, ShapeError };

/** Checks of one call, which throw this package's errors. */
export function checksOf(operation: string, stream: Stream): ArgumentChecks {
  return new ArgumentChecks({ operation, stream, errors });
}
