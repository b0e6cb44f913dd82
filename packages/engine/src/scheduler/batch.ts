import type { Sequence } from '../sequence.js';

/** A piece of one prompt to compute in this step. */
export interface PrefillPiece {
  readonly sequence: Sequence;
  /** First position of the piece. */
  readonly start: number;
  readonly tokens: number;
}

/** What one step computes: a row for every decoding sequence, and pieces of prompts. */
export interface Batch {
  readonly decode: readonly Sequence[];
  readonly prefill: readonly PrefillPiece[];
}

/** True for the last piece of what a sequence computes before it decodes. */
export function completesPrompt({ sequence, start, tokens }: PrefillPiece): boolean {
  return start + tokens === sequence.prefillTokens;
}
