import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A launch that the device cannot run; the message prints the limit. */
export class LaunchConfigError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_LAUNCH_CONFIG', ...facts });
  }

  static override isInstance(value: unknown): value is LaunchConfigError {
    return hasMarker(value, 'LaunchConfigError');
  }
}
