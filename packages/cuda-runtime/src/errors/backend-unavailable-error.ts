import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';
import { type UnavailableReason, unavailableHints } from './unavailable-reason.js';

/** A backend cannot be used on this machine; `reason` says why. */
export class BackendUnavailableError extends CudaRuntimeError {
  /** Which of the causes that `unavailableHints` lists. */
  readonly reason: UnavailableReason;

  constructor(facts: CodedFacts & { readonly reason: UnavailableReason }) {
    super({ code: 'CRT_UNAVAILABLE', hint: unavailableHints[facts.reason], ...facts });
    this.reason = facts.reason;
  }

  static override isInstance(value: unknown): value is BackendUnavailableError {
    return hasMarker(value, 'BackendUnavailableError');
  }
}
