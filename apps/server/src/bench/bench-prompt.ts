/** A request of a bench. */
export interface BenchPrompt {
  readonly text: string;
  /** Of the prompt's text, if a tokenizer counted it. */
  readonly textTokens?: number;
  /** Asked for as `max_tokens`. */
  readonly outputTokens: number;
}

/** What a tokenizer has to do for a bench. */
export interface BenchTokenizer {
  encode(text: string): readonly number[];
  decode(ids: Iterable<number>): string;
}
