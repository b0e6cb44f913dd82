import { StepError } from '../errors/index.js';
import type { TokenEvent } from '../generation-event.js';
import { askAhead, type GrammarEnd } from '../grammar/row-rule.js';
import type { Sequence } from '../sequence.js';
import type { TokenColumns } from './token-columns.js';

/** Who is told, and the clock. */
export interface TokenDeliveryOptions {
  /** A token that was computed for the sequence could not be drawn. */
  readonly hold: (sequence: Sequence) => void;
  readonly now: () => number;
  /** Told that a sequence may go on for which there was no step. */
  readonly wake?: (() => void) | undefined;
}

/** A matcher that answers so soon is asked within its steps again. */
const quickMs = 10;

const noAlternatives: TokenEvent['top'] = [];

/** Gives the tokens of steps to their sequences. */
export class TokenDelivery {
  readonly #options: TokenDeliveryOptions;
  /** Sequences whose matcher was late: no step waits for it again before it has been quick. */
  readonly #slow = new WeakSet<Sequence>();
  #generated = 0;
  #discarded = 0;

  constructor(options: TokenDeliveryOptions) {
    this.#options = options;
  }

  /** Tokens that sequences took. */
  get generatedTokens(): number {
    return this.#generated;
  }

  /** Tokens of sequences that had ended by then; nobody is told of them. */
  get discardedTokens(): number {
    return this.#discarded;
  }

  deliver(sequences: readonly Sequence[], tokens: TokenColumns): void {
    for (let row = 0; row < sequences.length; row += 1) {
      const sequence = sequences[row];
      if (!sequence) continue;
      const end = tokens.ends?.[row];
      if (sequence.state === 'finished' || sequence.isAborted) this.#discarded += 1;
      else if (end !== undefined) this.#end(sequence, end);
      else this.#take(sequence, tokens, row);
    }
  }

  #end(sequence: Sequence, end: GrammarEnd): void {
    if (end === 'late') this.#hold(sequence);
    else if (end === 'complete') sequence.finish('stop');
    else sequence.finish('error', { error: end });
  }

  #take(sequence: Sequence, tokens: TokenColumns, row: number): void {
    const logprob = tokens.logprobs[row] ?? Number.NaN;
    if (Number.isNaN(logprob)) {
      const error = new StepError('sampling', 'no logit of the row is a number');
      sequence.finish('error', { error });
      return;
    }
    this.#generated += 1;
    const top = tokens.top?.[row] ?? noAlternatives;
    // One object and no more: this is what a step makes for each of its rows.
    sequence.accept({ type: 'token', id: tokens.ids[row] ?? -1, logprob, top });
    if (this.#slow.has(sequence)) this.#await(sequence);
  }

  /** Its token is drawn in a later step, when its matcher has answered. */
  #hold(sequence: Sequence): void {
    this.#slow.add(sequence);
    this.#options.hold(sequence);
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
}
