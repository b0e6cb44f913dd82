import type { SettledOptions } from '../engine-options.js';
import type { GraphRunnerReport } from '../graph-runner.js';
import type { ModelFacts } from '../model.js';
import type { PrefillPiece } from '../scheduler/batch.js';
import type { Sequence } from '../sequence.js';
import type { SampledToken } from '../step/sampled-token.js';

/** Computes one token for each decoding sequence. */
export interface DecodeRunner {
  /** @returns a token for each sequence, in order */
  run(sequences: readonly Sequence[]): Promise<SampledToken[]>;
  /** After a failed step nothing that was computed is certain. */
  forget(): void;
  describe(): GraphRunnerReport;
}

/** Computes pieces of prompts. */
export interface PromptRunner {
  /** @returns the first token of each piece that completes its prompt, in the order of the pieces */
  run(pieces: readonly PrefillPiece[]): Promise<SampledToken[]>;
  /** After a failed step nothing that was computed is certain. */
  forget(): void;
  /** Bytes of activations held for the largest step so far. */
  readonly workspaceBytes: number;
}

/** What an engine runs on: settled options, and what computes the steps that the scheduler decides. */
export interface EngineParts {
  readonly options: SettledOptions<ModelFacts>;
  /** Pages of the cache. */
  readonly pages: number;
  readonly decode: DecodeRunner;
  readonly prefill: PromptRunner;
  /** Frees everything; no step is under way. */
  dispose(): void;
}
