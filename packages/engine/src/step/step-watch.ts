import type { PageCounts } from '../pages/page-pool.js';

/** What a step is about to compute; numbers only. */
export interface StepPlan {
  /** Number of the step, from 1. */
  readonly step: number;
  /** Sequences that get a token. */
  readonly decodeRows: number;
  /** Pieces of prompts, and their tokens. */
  readonly prefillPieces: number;
  readonly prefillTokens: number;
  /** Sequences that were admitted, and that wait. */
  readonly running: number;
  readonly waiting: number;
  readonly pages: PageCounts;
  /** How long the decision took. */
  readonly scheduleMs: number;
}

/** Told of every step, synchronously, so it must be quick. */
export interface StepWatch {
  /**
   * A piece of a request's prompt is about to be computed: its first call says that the request has
   * begun.
   *
   * @param id of its submission
   * @param tokens of the piece; 0 where a request begins whose prompt another one computed
   */
  prefill(id: number, tokens: number): void;
  /** Before anything of the step is computed. */
  planned(plan: StepPlan): void;
  /** A part of a step was computed, or failed, after so long. */
  computed(kind: 'decode' | 'prefill', ms: number): void;
}
