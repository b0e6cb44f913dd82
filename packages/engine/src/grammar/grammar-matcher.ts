/**
 * Which tokens may come next. One matcher serves one request; the engine knows nothing of grammars
 * but this, so that whoever embeds it brings the library.
 */
export interface GrammarMatcher {
  /** Takes the token that was generated last. Must not throw: what goes wrong is said by `mask`. */
  accept(id: number): void;
  /**
   * Ids that may follow the tokens accepted so far: bit `id % 32` of word `id / 32`, in
   * `ceil(vocabSize / 32)` words. `undefined` = every id; no bit at all = the text is complete, and
   * the request ends as if at a stop token. A rejection ends this request with an error, no other.
   */
  mask(): Promise<Int32Array | undefined>;
  /** The request is over; called once, whatever its end. */
  dispose(): void;
}
