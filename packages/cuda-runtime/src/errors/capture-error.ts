import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A rule of stream capture was broken; `code` says which (`CRT_CAPTURE_…`). */
export class CaptureError extends CudaRuntimeError {
  constructor(facts: CodedFacts) {
    super({ code: 'CRT_CAPTURE_UNSUPPORTED', ...facts });
  }

  static override isInstance(value: unknown): value is CaptureError {
    return hasMarker(value, 'CaptureError');
  }
}
