import type { ChoiceGrammar } from './grammar.js';
import type { LibraryMatcher } from './library.js';

/** Ids that steer the output; undefined where the tokenizer lacks them. */
export interface MarkerIds {
  readonly thinkOpen: number | undefined;
  readonly thinkClose: number | undefined;
  readonly namespace: number | undefined;
}

/** Where the output is: thoughts are free, and so are calls that have no grammar. */
type Place = 'thoughts' | 'either' | 'begin' | 'answer' | 'calls' | 'free';

/** Matchers of an output's parts; a part without one is free. */
export interface PartMatchers {
  readonly answer: LibraryMatcher | undefined;
  readonly calls: LibraryMatcher | undefined;
}

/** Follows one output with its thoughts: the grammars begin behind them. */
export class AnswerMatcher {
  readonly #parts: PartMatchers;
  readonly #markers: MarkerIds;
  readonly #marker: ChoiceGrammar['marker'];
  readonly #words: number;
  #place: Place;

  constructor(
    parts: PartMatchers,
    { start, marker }: Pick<ChoiceGrammar, 'start' | 'marker'>,
    { markers, vocabSize }: { markers: MarkerIds; vocabSize: number },
  ) {
    this.#parts = parts;
    this.#markers = markers;
    this.#marker = marker;
    this.#words = Math.ceil(vocabSize / 32);
    this.#place = start === 'answer' ? 'begin' : start;
  }

  /** True once the output is in calls that have a grammar of their own. */
  get isInCalls(): boolean {
    return this.#place === 'calls';
  }

  /** Takes the next token of the output. */
  accept(id: number): void {
    const { thinkOpen, thinkClose, namespace } = this.#markers;
    if (this.#place === 'free') return;
    if (this.#place === 'either' && id === thinkOpen) this.#place = 'thoughts';
    else if (this.#place === 'either' && id === thinkClose) this.#place = 'begin';
    else if (this.#place === 'calls') take(this.#parts.calls, id);
    else if (this.#place !== 'thoughts') this.#acceptAnswer(id);
    else if (id === thinkClose) this.#place = 'begin';
    // A marker ends thoughts too, as the output parser reads them.
    else if (id === namespace) this.#endThoughts(id);
  }

  /** Ids that may come next; undefined = all, no bit = the answer is complete. */
  async mask(): Promise<Int32Array | undefined> {
    if (this.#place === 'thoughts' || this.#place === 'free') return undefined;
    const { answer, calls } = this.#parts;
    const matcher = this.#place === 'calls' ? calls : answer;
    if (!matcher) return undefined;
    if (matcher.isTerminated()) return new Int32Array(this.#words);
    const mask = Int32Array.from(await matcher.getNextTokenBitmask());
    if (this.#place !== 'calls') this.#setMarkers(mask);
    return mask;
  }

  dispose(): void {
    this.#parts.answer?.dispose();
    this.#parts.calls?.dispose();
  }

  /** Markers are no part of an answer's grammar, but for calls that it is made of. */
  #setMarkers(mask: Int32Array): void {
    const { thinkOpen, thinkClose, namespace } = this.#markers;
    const isBegin = this.#place === 'either' || this.#place === 'begin';
    if (this.#marker === 'never') setBit(mask, namespace, false);
    if (this.#marker === 'begins') setBit(mask, namespace, isBegin);
    if (this.#place === 'either') for (const id of [thinkOpen, thinkClose]) setBit(mask, id, true);
  }

  #endThoughts(id: number): void {
    this.#place = 'begin';
    if (this.#marker !== 'never') this.#acceptAnswer(id);
  }

  /** Calls come in place of an answer that has a form, and anywhere in one that has none. */
  #acceptAnswer(id: number): void {
    const { answer, calls } = this.#parts;
    const mayCall = this.#marker === 'begins' && (this.#place !== 'answer' || !answer);
    if (mayCall && id === this.#markers.namespace) {
      this.#place = calls ? 'calls' : 'free';
      take(calls, id);
      return;
    }
    this.#place = 'answer';
    take(answer, id);
  }
}

function take(matcher: LibraryMatcher | undefined, id: number): void {
  if (!matcher || matcher.isTerminated() || matcher.acceptToken(id)) return;
  throw new Error(`token ${id} is not part of the grammar`);
}

function setBit(mask: Int32Array, id: number | undefined, isSet: boolean): void {
  if (id === undefined) return;
  const word = mask[id >> 5] ?? 0;
  mask[id >> 5] = isSet ? word | (1 << (id & 31)) : word & ~(1 << (id & 31));
}
