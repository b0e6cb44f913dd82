import { StepError } from './errors/index.js';
import { isFatal } from './errors/is-fatal.js';
import { hasGrammar } from './grammar/row-rule.js';
import type { PageCopy } from './pages/page-copies.js';
import type { DecodeRunner, PrefillResult, PromptRunner } from './parts/engine-parts.js';
import { type Batch, completesPrompt, noPieces, type PrefillPiece } from './scheduler/batch.js';
import type { Scheduler } from './scheduler/scheduler.js';
import type { Sequence } from './sequence.js';
import type { StepWatch } from './step/step-watch.js';
import type { TokenColumns } from './step/token-columns.js';
import { TokenDelivery } from './step/token-delivery.js';

/** Who decides, who computes, and the clock. */
export interface StepPipelineOptions {
  readonly scheduler: Scheduler;
  readonly decode: Pick<DecodeRunner, 'launch' | 'forget'>;
  readonly prefill: Pick<PromptRunner, 'launch' | 'forget'>;
  /** Whether a step is launched while the one before runs. */
  readonly lookAhead: boolean;
  /** Resolves when a step may be launched behind the one that runs; undefined = now. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
  readonly now: () => number;
  readonly watch?: Pick<StepWatch, 'computed'> | undefined;
  /** Told that a sequence may go on for which there was no step. */
  readonly wake?: (() => void) | undefined;
}

/** How often a step was launched while the one before ran, and why not. */
export interface LookAheadReport {
  readonly isEnabled: boolean;
  /** Steps that were launched while the one before ran. */
  readonly aheadSteps: number;
  /** Steps that had to wait for the end of the one before. */
  readonly waits: {
    /** A grammar must know the token before it says what may follow. */
    readonly grammar: number;
    /** Pages are lacking: who ends, and who gives way, is decided when all tokens are known. */
    readonly pages: number;
    /** A part of the step before failed. */
    readonly failure: number;
  };
  /** Tokens computed for requests that had ended by then; nobody is told of them. */
  readonly discardedTokens: number;
}

type WaitReason = keyof LookAheadReport['waits'];

/** What a part came to, or why it failed. */
type Outcome<T> =
  | { readonly result: T; readonly hasFailed: false }
  | { readonly cause: unknown; readonly hasFailed: true };

/** A part of a step under way. */
interface Part<T> {
  readonly kind: 'decode' | 'prefill';
  readonly sequences: readonly Sequence[];
  /** Never rejects, since it is awaited late: when what came before is delivered. */
  readonly outcome: Promise<Outcome<T>>;
  /** By the clock, before it was enqueued. */
  readonly launchedMs: number;
}

interface PrefillPart extends Part<PrefillResult> {
  readonly pieces: readonly PrefillPiece[];
}

/** A step under way. */
interface Flight {
  readonly step: number;
  readonly decode: Part<TokenColumns> | undefined;
  readonly prefill: PrefillPart | undefined;
  /** Why nothing may be launched before it is over. */
  readonly wait: WaitReason | undefined;
}

/**
 * Launches steps and delivers their tokens, one step behind where that is possible: while the
 * device computes a step, the host delivers the one before, decides the next one and launches it.
 */
export class StepPipeline {
  readonly #options: StepPipelineOptions;
  readonly #delivery: TokenDelivery;
  readonly #waits = { grammar: 0, pages: 0, failure: 0 };
  #steps = 0;
  #promptTokens = 0;
  #aheadSteps = 0;
  #launchedStep = 0;
  #landedStep = 0;
  #flight: Flight | undefined;
  /** A part of the step that is being launched could not be enqueued. */
  #isBroken = false;
  /** When a part was last over, by the clock. */
  #landedMs = 0;

  constructor(options: StepPipelineOptions) {
    const { scheduler, now, wake } = options;
    this.#options = options;
    const hold = (sequence: Sequence): void => scheduler.hold(sequence);
    this.#delivery = new TokenDelivery({ hold, now, wake });
  }

  /** Steps launched; tokens computed of prompts, and generated. */
  get counts(): {
    readonly steps: number;
    readonly promptTokens: number;
    readonly generatedTokens: number;
  } {
    const { generatedTokens } = this.#delivery;
    return { steps: this.#steps, promptTokens: this.#promptTokens, generatedTokens };
  }

  /** The step that was launched last; 0 = none. */
  get launchedStep(): number {
    return this.#launchedStep;
  }

  /** The one that is over, with all before it. */
  get landedStep(): number {
    return this.#landedStep;
  }

  /** Whether a step is under way. */
  get isFlying(): boolean {
    return this.#flight !== undefined;
  }

  describe(): LookAheadReport {
    return {
      isEnabled: this.#options.lookAhead,
      aheadSteps: this.#aheadSteps,
      waits: { ...this.#waits },
      discardedTokens: this.#delivery.discardedTokens,
    };
  }

  /**
   * Launches a step and delivers the one before; that one, too, if nothing may be launched while it
   * runs.
   *
   * @throws StepError if the device is lost
   */
  advance(batch: Batch): Promise<void> {
    const room = this.#flight && this.#options.ready?.();
    return room ? room.then(() => this.#advance(batch)) : this.#advance(batch);
  }

  /** Waits for the step under way and delivers it. */
  settle(reason?: WaitReason): Promise<void> {
    const flight = this.#flight;
    if (!flight) return nothing;
    if (reason) this.#waits[reason] += 1;
    this.#flight = undefined;
    return this.#land(flight);
  }

  #advance(batch: Batch): Promise<void> {
    const before = this.#flight;
    const flight = this.#launch(batch);
    this.#flight = flight;
    if (!before) return this.#settleUnlessAhead(flight, true) ?? nothing;
    this.#aheadSteps += 1;
    return this.#land(before, flight);
  }

  /** @param isWhole nothing failed of the step before @returns undefined: there is no need */
  #settleUnlessAhead({ wait }: Flight, isWhole: boolean): Promise<void> | undefined {
    if (!this.#options.lookAhead) return this.settle();
    const reason = wait ?? (isWhole ? undefined : 'failure');
    return reason && this.settle(reason);
  }

  #launch({ step, copies, decode, prefill, lacksPages }: Batch): Flight {
    this.#steps += 1;
    this.#launchedStep = step;
    this.#isBroken = false;
    const decoding = decode.length > 0 ? this.#launchDecode(decode, copies) : undefined;
    const prefilling = prefill.length > 0 ? this.#launchPrefill(prefill) : undefined;
    const cause = lacksPages ? 'pages' : grammarWait(decode, prefill);
    const wait = this.#isBroken ? 'failure' : cause;
    return { step, decode: decoding, prefill: prefilling, wait };
  }

  /** One that cannot be enqueued fails alone, when its turn has come. */
  #launchDecode(sequences: readonly Sequence[], copies: readonly PageCopy[]): Part<TokenColumns> {
    const launchedMs = this.#options.now();
    let result: Promise<TokenColumns>;
    try {
      result = this.#options.decode.launch(sequences, copies);
    } catch (error) {
      result = this.#breakOff(error);
    }
    const outcome = result.then(succeeded<TokenColumns>, failed);
    return { kind: 'decode', sequences, outcome, launchedMs };
  }

  /** The same for pieces of prompts. */
  #launchPrefill(pieces: readonly PrefillPiece[]): PrefillPart {
    const launchedMs = this.#options.now();
    const sequences = pieces.map(({ sequence }) => sequence);
    let result: Promise<PrefillResult>;
    try {
      result = this.#options.prefill.launch(pieces);
    } catch (error) {
      result = this.#breakOff(error);
    }
    const outcome = result.then(succeeded<PrefillResult>, failed);
    return { kind: 'prefill', sequences, outcome, launchedMs, pieces };
  }

  #breakOff<T>(error: unknown): Promise<T> {
    this.#isBroken = true;
    this.#forget();
    return Promise.reject<T>(error);
  }

  /**
   * Decoded tokens go out before the step's prompts are over. One function for all, as every other
   * that waits costs a step half a kilobyte of heap.
   *
   * @param next a step that was launched meanwhile, and may have to be awaited, too
   */
  async #land({ step, decode, prefill }: Flight, next?: Flight): Promise<void> {
    const isDecoded = !decode || this.#take(decode, await decode.outcome, this.#takeDecoded);
    const isComputed = !prefill || this.#take(prefill, await prefill.outcome, this.#takePrefilled);
    this.#options.scheduler.landed(step);
    this.#landedStep = step;
    const settled = next && this.#settleUnlessAhead(next, isDecoded && isComputed);
    if (settled) await settled;
  }

  /**
   * A part that fails ends its own sequences; the others go on, unless the device is lost.
   *
   * @returns whether it did not fail
   */
  #take<P extends Part<T>, T>(
    part: P,
    outcome: Outcome<T>,
    deliver: (part: P, result: T) => void,
  ): boolean {
    try {
      if (outcome.hasFailed) throw outcome.cause;
      deliver(part, outcome.result);
      return true;
    } catch (cause) {
      this.#fail(part, cause);
      return false;
    } finally {
      this.#noteEnd(part);
    }
  }

  readonly #takeDecoded = ({ sequences }: Part<TokenColumns>, tokens: TokenColumns): void => {
    const { ends } = tokens;
    const drawn = ends ? sequences.filter((_, row) => ends[row] !== 'late') : sequences;
    for (const { generated } of drawn) {
      // The last token of a prompt that another computed, or whose matcher was late, is a row here.
      if (generated.length === 0) this.#promptTokens += 1;
    }
    this.#options.scheduler.commit({ decode: drawn, prefill: noPieces });
    this.#delivery.deliver(sequences, tokens);
  };

  readonly #takePrefilled = (
    { pieces, launchedMs }: PrefillPart,
    { first, reports }: PrefillResult,
  ): void => {
    const { scheduler, now } = this.#options;
    const ms = now() - Math.max(launchedMs, this.#landedMs);
    const owners = pieces.filter(completesPrompt).map(({ sequence }) => sequence);
    const late = new Set(owners.filter((_, row) => first.ends?.[row] === 'late'));
    const shortened = pieces.map((piece) =>
      late.has(piece.sequence) ? { ...piece, tokens: piece.tokens - 1 } : piece,
    );
    scheduler.commit({ decode: [], prefill: shortened }, ms);
    for (const { sequence, tokens } of reports) sequence.addPromptLogprobs(tokens);
    this.#delivery.deliver(owners, first);
    for (const { tokens } of shortened) this.#promptTokens += tokens;
  };

  #fail({ kind, sequences }: Part<unknown>, cause: unknown): void {
    const error = new StepError(kind === 'decode' ? 'decoding' : 'a prefill', cause);
    for (const sequence of sequences) sequence.finish('error', { error });
    this.#forget();
    if (isFatal(cause)) throw error;
  }

  #noteEnd({ kind, launchedMs }: Part<unknown>): void {
    const { now, watch } = this.#options;
    const nowMs = now();
    watch?.computed(kind, nowMs - Math.max(launchedMs, this.#landedMs));
    this.#landedMs = nowMs;
  }

  /** After a failure nothing that the device was told is certain. */
  #forget(): void {
    this.#options.decode.forget();
    this.#options.prefill.forget();
  }
}

const nothing = Promise.resolve();

function succeeded<T>(result: T): Outcome<T> {
  return { result, hasFailed: false };
}

function failed(cause: unknown): Outcome<never> {
  return { cause, hasFailed: true };
}

function grammarWait(
  decode: readonly Sequence[],
  pieces: readonly PrefillPiece[],
): WaitReason | undefined {
  return decode.some(hasGrammar) || pieces.some(drawsByGrammar) ? 'grammar' : undefined;
}

function drawsByGrammar(piece: PrefillPiece): boolean {
  return completesPrompt(piece) && hasGrammar(piece.sequence);
}
