import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** The device failed for good; restart the process. */
export class DeviceLostError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_DEVICE_LOST', ...facts });
  }

  static override isInstance(value: unknown): value is DeviceLostError {
    return hasMarker(value, 'DeviceLostError');
  }
}
