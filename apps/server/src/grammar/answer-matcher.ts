import type { ChoiceGrammar } from './grammar.js';
import type { LibraryMatcher } from './library.js';

/** Ids that steer the output; undefined where the tokenizer lacks them. */
export interface MarkerIds {
  readonly thinkOpen: number | undefined;
  readonly thinkClose: number | undefined;
  readonly namespace: number | undefined;
}

/** Where the output is: thoughts and calls that are nobody's grammar are free. */
type Place = 'thoughts' | 'either' | 'begin' | 'answer' | 'free';

/** Follows one output with its thoughts: the grammar begins behind them. */
export class AnswerMatcher {
  readonly #matcher: LibraryMatcher;
  readonly #markers: MarkerIds;
  readonly #marker: ChoiceGrammar['marker'];
  readonly #words: number;
  #place: Place;

  constructor(
    matcher: LibraryMatcher,
    { start, marker }: ChoiceGrammar,
    { markers, vocabSize }: { markers: MarkerIds; vocabSize: number },
  ) {
    this.#matcher = matcher;
    this.#markers = markers;
    this.#marker = marker;
    this.#words = Math.ceil(vocabSize / 32);
    this.#place = start === 'answer' ? 'begin' : start;
  }

  /** Takes the next token of the output. */
  accept(id: number): void {
    const { thinkOpen, thinkClose, namespace } = this.#markers;
    if (this.#place === 'free') return;
    if (this.#place === 'either' && id === thinkOpen) this.#place = 'thoughts';
    else if (this.#place === 'either' && id === thinkClose) this.#place = 'begin';
    else if (this.#place !== 'thoughts') this.#acceptAnswer(id);
    else if (id === thinkClose) this.#place = 'begin';
    // A marker ends thoughts too, as the output parser reads them.
    else if (id === namespace) this.#endThoughts(id);
  }

  /** Ids that may come next; undefined = all, no bit = the answer is complete. */
  async mask(): Promise<Int32Array | undefined> {
    if (this.#place === 'thoughts' || this.#place === 'free') return undefined;
    if (this.#matcher.isTerminated()) return new Int32Array(this.#words);
    const mask = Int32Array.from(await this.#matcher.getNextTokenBitmask());
    const { thinkOpen, thinkClose, namespace } = this.#markers;
    const isBegin = this.#place === 'either' || this.#place === 'begin';
    if (this.#marker === 'never') setBit(mask, namespace, false);
    if (this.#marker === 'begins') setBit(mask, namespace, isBegin);
    if (this.#place === 'either') for (const id of [thinkOpen, thinkClose]) setBit(mask, id, true);
    return mask;
  }

  dispose(): void {
    this.#matcher.dispose();
  }

  #endThoughts(id: number): void {
    this.#place = 'begin';
    if (this.#marker !== 'never') this.#acceptAnswer(id);
  }

  #acceptAnswer(id: number): void {
    const isBegin = this.#place !== 'answer';
    if (isBegin && this.#marker === 'begins' && id === this.#markers.namespace) {
      this.#place = 'free';
      return;
    }
    this.#place = 'answer';
    if (this.#matcher.isTerminated() || this.#matcher.acceptToken(id)) return;
    throw new Error(`token ${id} is not part of the grammar`);
  }
}

function setBit(mask: Int32Array, id: number | undefined, isSet: boolean): void {
  if (id === undefined) return;
  const word = mask[id >> 5] ?? 0;
  mask[id >> 5] = isSet ? word | (1 << (id & 31)) : word & ~(1 << (id & 31));
}
