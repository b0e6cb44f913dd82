import { DenseKernelsError } from './dense-kernels-error.js';

/** A tensor lives on another device or runtime than the stream. */
export class DeviceError extends DenseKernelsError {
  override readonly name = 'DeviceError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'DENSE_DEVICE', operation, argument, detail });
  }
}
