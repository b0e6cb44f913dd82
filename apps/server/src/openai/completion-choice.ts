import type { PromptEvent, TokenEvent } from '@altstream/engine';
import type { ChoiceFinish, ChoiceStep } from '../generation/choice.js';
import { type StopShape, stopReason } from '../generation/stop-shape.js';
import {
  type CompletionLogprobs,
  completionLogprobs,
  type ShownToken,
} from './completion-logprobs.js';
import { type TokenText, textOf } from './token-text.js';

/** What decides how a text completion is shown. */
export interface CompletionShape {
  /** Alternatives a token; undefined = no log-probabilities. */
  readonly logprobs: number | undefined;
  readonly echo: boolean;
  /** False for `max_tokens: 0`, where only the prompt is wanted. */
  readonly showsGenerated: boolean;
  readonly stops: StopShape;
  readonly tokens: TokenText;
}

/** A prompt as it was understood. */
export interface PromptText {
  readonly ids: readonly number[];
  readonly text: string;
}

/** One piece of a choice of a text completion, as the API shows it. */
export interface CompletionPiece {
  readonly text: string;
  readonly index: number;
  readonly logprobs: CompletionLogprobs | null;
  readonly finish_reason: 'stop' | 'length' | null;
  readonly stop_reason?: string | number | null;
  readonly matched_stop?: string | number | null;
}

/** Builds the pieces of one choice from its steps; joined they are the whole choice. */
export class CompletionChoice {
  readonly #index: number;
  readonly #prompt: PromptText;
  readonly #shape: CompletionShape;
  #promptLogprobs: PromptEvent | undefined;
  /** Tokens whose text is still held back. */
  #unshown: TokenEvent[] = [];
  #hasEchoed = false;
  /** Characters of the choice's text so far, for `text_offset`. */
  #offset = 0;

  constructor(index: number, prompt: PromptText, shape: CompletionShape) {
    this.#index = index;
    this.#prompt = prompt;
    this.#shape = shape;
  }

  /** The piece of one step; undefined if it shows nothing yet. */
  ofStep({ deltas, tokens, prompt, finish }: ChoiceStep): CompletionPiece | undefined {
    if (prompt) this.#promptLogprobs = prompt;
    for (const token of tokens) this.#unshown.push(token);
    let generated = '';
    for (const delta of deltas) generated += 'text' in delta ? delta.text : '';
    if (generated === '' && !finish) return undefined;
    const echoed = this.#hasEchoed || !this.#shape.echo ? '' : this.#prompt.text;
    const shown = this.#takeShown();
    this.#hasEchoed = true;
    const text = echoed + (this.#shape.showsGenerated ? generated : '');
    return this.#piece(text, shown, finish);
  }

  #piece(text: string, shown: readonly ShownToken[], finish?: ChoiceFinish): CompletionPiece {
    const logprobs = this.#shape.logprobs === undefined ? null : this.#logprobs(shown);
    const { stops } = this.#shape;
    const matched = stops.hasMatchedStop ? { matched_stop: finish?.stop ?? null } : {};
    const piece = { text, index: this.#index, logprobs, finish_reason: null, ...matched };
    if (!finish) return piece;
    const reason = finish.reason === 'stop' ? 'stop' : 'length';
    return { ...piece, finish_reason: reason, stop_reason: stopReason(finish.stop, stops) };
  }

  #logprobs(shown: readonly ShownToken[]): CompletionLogprobs {
    const logprobs = completionLogprobs(shown, this.#offset, this.#shape.tokens);
    const plain = { ...this.#shape.tokens, asTokenIds: false };
    for (const { id } of shown) this.#offset += textOf(id, plain).length;
    return logprobs;
  }

  /** The tokens to show now: the prompt's first if they are echoed, then the generated ones. */
  #takeShown(): readonly ShownToken[] {
    const generated = this.#shape.showsGenerated ? this.#unshown : [];
    this.#unshown = [];
    const isFirst = !this.#hasEchoed && this.#shape.echo;
    return isFirst ? [...this.#promptTokens(), ...generated] : generated;
  }

  /** The first token of a prompt has no log-probability: nothing precedes it. */
  #promptTokens(): ShownToken[] {
    return this.#prompt.ids.map((id, position) => {
      const known = this.#promptLogprobs?.tokens[position - 1];
      return { id, logprob: known?.logprob ?? null, top: known?.top ?? [] };
    });
  }
}

/** Joins the pieces of a choice into one. */
export function joinPieces(pieces: readonly CompletionPiece[]): CompletionPiece | undefined {
  const last = pieces.at(-1);
  if (!last) return undefined;
  const logprobs = pieces.flatMap((piece) => (piece.logprobs ? [piece.logprobs] : []));
  return {
    ...last,
    text: pieces.map(({ text }) => text).join(''),
    logprobs:
      last.logprobs === null
        ? null
        : {
            tokens: logprobs.flatMap((one) => one.tokens),
            token_logprobs: logprobs.flatMap((one) => one.token_logprobs),
            top_logprobs: logprobs.flatMap((one) => one.top_logprobs),
            text_offset: logprobs.flatMap((one) => one.text_offset),
          },
  };
}
