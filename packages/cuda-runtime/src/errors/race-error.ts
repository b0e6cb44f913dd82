import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** Two accesses to the same bytes that conflict and that nothing orders, or another mistake. */
export interface Race {
  /**
   * `race`; `not-allocated`: memory of a graph was used before its allocation or behind its free;
   * `red-zone`: something wrote beside the buffer, nobody knows what.
   */
  readonly kind: string;
  /**
   * The operation that was submitted first: `kernel@stream` and what it does to the bytes; empty
   * where nobody knows.
   */
  readonly first: string;
  /** The operation that was submitted second, or the one that is wrong. */
  readonly second: string;
  /** Label of the buffer, or its handle. */
  readonly buffer: string;
  /** The whole report in one sentence. */
  readonly message: string;
  /**
   * The JavaScript call stack of the first submission, one line a frame, without frames of this
   * package; of a node where it was captured or added. Empty where nobody submitted.
   */
  readonly firstStack: string;
  /** The same of the second submission. */
  readonly secondStack: string;
}

/** A checker of the CPU backend found a mistake: most often accesses that nothing orders. */
export class RaceError extends CudaRuntimeError {
  /** All that was found since the last check. */
  readonly races: readonly Race[];

  constructor(facts: CodedFacts & { readonly races: readonly Race[] }) {
    super({ code: 'CRT_RACE', ...facts });
    this.races = facts.races;
  }

  static override isInstance(value: unknown): value is RaceError {
    return hasMarker(value, 'RaceError');
  }
}
