import { AttentionKernelsError } from './attention-kernels-error.js';

/** A tensor lives on another device or runtime than the stream. */
export class DeviceError extends AttentionKernelsError {
  override readonly name = 'DeviceError';

  constructor(operation: string, argument: string, detail: string) {
    super({ code: 'ATTENTION_DEVICE', operation, argument, detail });
  }
}
