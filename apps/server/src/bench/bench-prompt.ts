/** A request of a bench. */
export interface BenchPrompt {
  readonly text: string;
  /** Of the prompt's text, if a tokenizer counted it. */
  readonly textTokens?: number;
  /** Asked for as `max_tokens`. */
  readonly outputTokens: number;
  /** In place of the text: fields of a chat, such as messages and tools. */
  readonly chat?: Readonly<Record<string, unknown>>;
  /** Sent once this one has its answer, as whoever uses tools does. */
  readonly next?: BenchPrompt | undefined;
}

/** What a tokenizer has to do for a bench. */
export interface BenchTokenizer {
  encode(text: string): readonly number[];
  decode(ids: Iterable<number>): string;
}

/** Requests with all that follow them. */
export function countRequests(prompts: readonly BenchPrompt[]): number {
  let count = 0;
  for (const first of prompts) {
    for (let one: BenchPrompt | undefined = first; one; one = one.next) count += 1;
  }
  return count;
}
