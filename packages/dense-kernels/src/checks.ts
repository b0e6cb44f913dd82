import { ArgumentChecks, type Stream } from '@altstream/cuda-runtime';
import { ArgumentRangeError, DeviceError, DTypeError, ShapeError } from './errors/index.js';

const errors = { ArgumentRangeError, DeviceError, DTypeError, ShapeError };

/** Checks of one call, which throw this package's errors. */
export function checksOf(operation: string, stream: Stream): ArgumentChecks {
  return new ArgumentChecks({ operation, stream, errors });
}
