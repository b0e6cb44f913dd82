import type { PageCopy } from '../pages/page-copies.js';
import type { Sequence } from '../sequence.js';

/** A piece of one prompt to compute in this step. */
export interface PrefillPiece {
  readonly sequence: Sequence;
  /** First position of the piece. */
  readonly start: number;
  readonly tokens: number;
}

/** What one step computes: a row for every decoding sequence, and pieces of prompts. */
export interface BatchParts {
  readonly decode: readonly Sequence[];
  readonly prefill: readonly PrefillPiece[];
}

/** A step that was decided. */
export interface Batch extends BatchParts {
  /** Number of the step, from 1. */
  readonly step: number;
  /** Pages of decoding sequences that are copied, in order, before anything is computed. */
  readonly copies: readonly PageCopy[];
  /** Some rows had to sit this step out for want of pages: the next is decided when it is over. */
  readonly lacksPages: boolean;
}

/** True for the last piece of what a sequence computes before it decodes. */
export function completesPrompt({ sequence, start, tokens }: PrefillPiece): boolean {
  return start + tokens === sequence.prefillTokens;
}

/** No piece of any prompt. */
export const noPieces: readonly PrefillPiece[] = [];

/** Nothing is computed. */
export const emptyBatch: BatchParts = { decode: [], prefill: noPieces };

/** How deep in their contexts pieces of prompts lie, and how many tokens they have. */
export function extentOf(pieces: readonly PrefillPiece[]): { depth: number; tokens: number } {
  return {
    depth: Math.max(0, ...pieces.map(({ start }) => start + 1)),
    tokens: pieces.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
