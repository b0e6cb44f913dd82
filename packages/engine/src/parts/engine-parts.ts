import type { SettledOptions } from '../engine-options.js';
import type { PromptEvent } from '../generation-event.js';
import type { GraphRunnerReport } from '../graph-runner.js';
import type { ModelFacts } from '../model.js';
import type { PageCopy } from '../pages/page-copies.js';
import type { PrefillPiece } from '../scheduler/batch.js';
import type { Sequence } from '../sequence.js';
import type { TokenColumns } from '../step/token-columns.js';

/** What pieces of prompts came to. */
export interface PrefillResult {
  /** The first token of each piece that completes its prompt, in the order of the pieces. */
  readonly first: TokenColumns;
  /** Log-probabilities of prompt tokens, in order, of the sequences that want them. */
  readonly reports: readonly {
    readonly sequence: Sequence;
    readonly tokens: PromptEvent['tokens'];
  }[];
}

/**
 * Computes one token for each decoding sequence. With look-ahead a launch comes before the one
 * before is over: launches of both runners are computed in their order.
 */
export interface DecodeRunner {
  /**
   * Starts to compute the last token of each sequence that counts as computed. Throws what cannot
   * be started.
   *
   * @param copies pages to copy before, in order
   * @returns the token drawn after it for each sequence; take them before the step after the next
   * is launched
   */
  launch(sequences: readonly Sequence[], copies?: readonly PageCopy[]): Promise<TokenColumns>;
  /** After a failed step nothing that was computed is certain. */
  forget(): void;
  describe(): GraphRunnerReport;
}

/** Computes pieces of prompts. */
export interface PromptRunner {
  /** Starts to compute the pieces. Throws what cannot be started. */
  launch(pieces: readonly PrefillPiece[]): Promise<PrefillResult>;
  /** After a failed step nothing that was computed is certain. */
  forget(): void;
  /** Bytes of activations held for the largest step so far. */
  readonly workspaceBytes: number;
}

/**
 * What an engine runs on: settled options, and what computes the steps that the scheduler decides.
 */
export interface EngineParts {
  readonly options: SettledOptions<ModelFacts>;
  /** Pages of the cache. */
  readonly pages: number;
  readonly decode: DecodeRunner;
  readonly prefill: PromptRunner;
  /**
   * Resolves when a step may be launched behind the one that runs; undefined = now, absent = at any
   * time.
   */
  readonly ready?: () => Promise<void> | undefined;
  /** Frees everything; no step is under way. */
  dispose(): void;
}
