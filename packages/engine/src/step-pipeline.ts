import { StepError } from './errors/index.js';
import { isFatal } from './errors/is-fatal.js';
import { askAhead } from './grammar/row-rule.js';
import type { DecodeRunner, PrefillResult, PromptRunner } from './parts/engine-parts.js';
import { type Batch, completesPrompt, type PrefillPiece } from './scheduler/batch.js';
import type { Scheduler } from './scheduler/scheduler.js';
import type { Sequence } from './sequence.js';
import type { SampledToken } from './step/sampled-token.js';
import type { StepWatch } from './step/step-watch.js';

/** Who decides, who computes, and the clock. */
export interface StepPipelineOptions {
  readonly scheduler: Scheduler;
  readonly decode: Pick<DecodeRunner, 'launch' | 'forget'>;
  readonly prefill: Pick<PromptRunner, 'launch' | 'forget'>;
  /** Whether a step is launched while the one before runs. */
  readonly lookAhead: boolean;
  /** Resolves when a step may be launched behind the one that runs. */
  readonly ready?: (() => Promise<void>) | undefined;
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

/** A matcher that answers so soon is asked within its steps again. */
const quickMs = 10;

/** A part of a step under way. */
interface Part<T> {
  readonly name: string;
  readonly sequences: readonly Sequence[];
  /** Rejects with what the part failed of. */
  readonly result: Promise<T>;
  /** By the clock, before it was enqueued. */
  readonly launchedMs: number;
}

/** A step under way. */
interface Flight {
  readonly step: number;
  readonly decode: Part<readonly SampledToken[]> | undefined;
  readonly prefill:
    | (Part<PrefillResult> & { readonly pieces: readonly PrefillPiece[] })
    | undefined;
  /** Why nothing may be launched before it is over. */
  readonly wait: WaitReason | undefined;
}

/**
 * Launches steps and delivers their tokens, one step behind where that is possible: while the
 * device computes a step, the host delivers the one before, decides the next one and launches it.
 */
export class StepPipeline {
  readonly #options: StepPipelineOptions;
  readonly #counts = { steps: 0, promptTokens: 0, generatedTokens: 0 };
  readonly #waits = { grammar: 0, pages: 0, failure: 0 };
  #aheadSteps = 0;
  #discardedTokens = 0;
  #flight: Flight | undefined;
  /** Sequences whose matcher was late: no step waits for it again before it has been quick. */
  readonly #slow = new WeakSet<Sequence>();
  /** When a part was last over, by the clock. */
  #landedMs = 0;

  constructor(options: StepPipelineOptions) {
    this.#options = options;
  }

  /** Steps launched; tokens computed of prompts, and generated. */
  get counts(): {
    readonly steps: number;
    readonly promptTokens: number;
    readonly generatedTokens: number;
  } {
    return { ...this.#counts };
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
      discardedTokens: this.#discardedTokens,
    };
  }

  /**
   * Launches a step and delivers the one before; that one, too, if nothing may be launched while it
   * runs.
   *
   * @throws StepError if the device is lost
   */
  async advance(batch: Batch): Promise<void> {
    const { lookAhead, ready } = this.#options;
    const before = this.#flight;
    if (before && ready) await ready();
    const flight = this.#launch(batch);
    this.#flight = flight;
    if (before) this.#aheadSteps += 1;
    const failed = before ? !(await this.#land(before)) : false;
    if (!lookAhead) await this.settle();
    else if (flight.wait ?? failed) await this.settle(flight.wait ?? 'failure');
  }

  /** Waits for the step under way and delivers it. */
  async settle(reason?: WaitReason): Promise<void> {
    const flight = this.#flight;
    if (!flight) return;
    if (reason) this.#waits[reason] += 1;
    this.#flight = undefined;
    await this.#land(flight);
  }

  /** Enqueues both parts; one that cannot be enqueued fails alone, when its turn has come. */
  #launch({ step, copies, decode, prefill: pieces, lacksPages }: Batch): Flight {
    const { decode: decoder, prefill: prefiller } = this.#options;
    this.#counts.steps += 1;
    let isBroken = false;
    const part = <T>(
      name: string,
      sequences: readonly Sequence[],
      launch: () => Promise<T>,
    ): Part<T> => {
      const launchedMs = this.#options.now();
      try {
        const result = launch();
        // It is awaited later, when what came before is delivered.
        result.catch(() => undefined);
        return { name, sequences, result, launchedMs };
      } catch (error) {
        isBroken = true;
        this.#forget();
        const result = Promise.reject<T>(error);
        result.catch(() => undefined);
        return { name, sequences, result, launchedMs };
      }
    };
    const decoding =
      decode.length > 0
        ? part('decoding', decode, () => decoder.launch(decode, copies))
        : undefined;
    const owners = pieces.map(({ sequence }) => sequence);
    const prefilling =
      pieces.length > 0
        ? { ...part('a prefill', owners, () => prefiller.launch(pieces)), pieces }
        : undefined;
    const wait = isBroken ? 'failure' : lacksPages ? 'pages' : grammarWait(decode, pieces);
    return { step, decode: decoding, prefill: prefilling, wait };
  }

  /** Decoded tokens go out before the step's prompts are over. @returns whether nothing failed */
  async #land({ step, decode, prefill }: Flight): Promise<boolean> {
    const { scheduler, now } = this.#options;
    const isDecoded = await this.#take(decode, (tokens, { sequences }) => {
      const drawn = sequences.filter((_, row) => tokens[row]?.end !== 'late');
      // The last token of a prompt that another computed, or whose matcher was late, is a row here.
      this.#counts.promptTokens += drawn.filter(({ generated }) => generated.length === 0).length;
      scheduler.commit({ decode: drawn, prefill: [] });
      this.#deliver(sequences, tokens);
    });
    const isComputed = await this.#take(prefill, ({ first, reports }, { launchedMs }) => {
      const pieces = prefill?.pieces ?? [];
      const ms = now() - Math.max(launchedMs, this.#landedMs);
      const owners = completed(pieces);
      const late = new Set(owners.filter((_, row) => first[row]?.end === 'late'));
      const shortened = pieces.map((piece) =>
        late.has(piece.sequence) ? { ...piece, tokens: piece.tokens - 1 } : piece,
      );
      scheduler.commit({ decode: [], prefill: shortened }, ms);
      for (const { sequence, tokens } of reports) sequence.addPromptLogprobs(tokens);
      this.#deliver(owners, first);
      for (const { tokens } of shortened) this.#counts.promptTokens += tokens;
    });
    scheduler.landed(step);
    return isDecoded && isComputed;
  }

  /** A part that fails ends its own sequences; the others go on, unless the device is lost. */
  async #take<T>(
    part: Part<T> | undefined,
    deliver: (result: T, part: Part<T>) => void,
  ): Promise<boolean> {
    if (!part) return true;
    try {
      deliver(await part.result, part);
      return true;
    } catch (cause) {
      const error = new StepError(part.name, cause);
      for (const sequence of part.sequences) sequence.finish('error', { error });
      this.#forget();
      if (isFatal(cause)) throw error;
      return false;
    } finally {
      const { now, watch } = this.#options;
      const nowMs = now();
      const kind = part.name === 'decoding' ? 'decode' : 'prefill';
      watch?.computed(kind, nowMs - Math.max(part.launchedMs, this.#landedMs));
      this.#landedMs = nowMs;
    }
  }

  #deliver(sequences: readonly Sequence[], tokens: readonly SampledToken[]): void {
    sequences.forEach((sequence, row) => {
      const token = tokens[row];
      if (!token) return;
      if (sequence.state === 'finished' || sequence.isAborted) {
        this.#discardedTokens += 1;
        return;
      }
      if (token.end === 'late') {
        this.#hold(sequence);
        return;
      }
      if (token.end === 'complete') {
        sequence.finish('stop');
        return;
      }
      if (token.end) {
        sequence.finish('error', { error: token.end });
        return;
      }
      if (Number.isNaN(token.logprob)) {
        const error = new StepError('sampling', 'no logit of the row is a number');
        sequence.finish('error', { error });
        return;
      }
      this.#counts.generatedTokens += 1;
      sequence.accept(token);
      if (this.#slow.has(sequence)) this.#await(sequence);
    });
  }

  /** Its token is drawn in a later step, when its matcher has answered. */
  #hold(sequence: Sequence): void {
    this.#slow.add(sequence);
    this.#options.scheduler.hold(sequence);
    this.#await(sequence);
  }

  #await(sequence: Sequence): void {
    const { now, wake } = this.#options;
    const answer = sequence.state === 'finished' ? undefined : askAhead(sequence);
    if (!answer) return;
    sequence.isHeld = true;
    const askedMs = now();
    void answer.then(() => {
      sequence.isHeld = false;
      if (now() - askedMs < quickMs) this.#slow.delete(sequence);
      wake?.();
    });
  }

  /** After a failure nothing that the device was told is certain. */
  #forget(): void {
    this.#options.decode.forget();
    this.#options.prefill.forget();
  }
}

function grammarWait(
  decode: readonly Sequence[],
  pieces: readonly PrefillPiece[],
): WaitReason | undefined {
  const drawn = [...decode, ...completed(pieces)];
  return drawn.some(({ parameters }) => parameters.grammar) ? 'grammar' : undefined;
}

function completed(pieces: readonly PrefillPiece[]): Sequence[] {
  return pieces.filter(completesPrompt).map(({ sequence }) => sequence);
}
