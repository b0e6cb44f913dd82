/** How long the parts of a request took, and how fast it was. */
export interface RequestTiming {
  /** Milliseconds from acceptance until its prompt was begun; null before that. */
  readonly queueMs: number | null;
  /** Milliseconds from then to the first token; null without one. */
  readonly prefillMs: number | null;
  /**
   * Milliseconds from acceptance to the first token, the wait for a place included; null without
   * one.
   */
  readonly ttftMs: number | null;
  /** Milliseconds from the first token to the last; null without two. */
  readonly decodeMs: number | null;
  /** Tokens a second after the first of each choice; null without two tokens. */
  readonly tokensPerSecond: number | null;
  /** Mean gap between two tokens of a choice, milliseconds. */
  readonly meanItlMs: number | null;
  /** Milliseconds from acceptance until now. */
  readonly totalMs: number;
}

/** A piece of a prompt that was about to be computed. */
export interface PromptPiece {
  /** Milliseconds since acceptance. */
  readonly ms: number;
  readonly tokens: number;
}

/** Of a prompt in very many pieces the first ones tell enough. */
const mostPieces = 1024;

/** Notes when the tokens of a request come. */
export class RequestClock {
  readonly #now: () => number;
  readonly #startedMs: number;
  readonly #lastOf = new Map<number, number>();
  readonly #pieces: PromptPiece[] = [];
  #computedMs: number | undefined;
  #firstMs: number | undefined;
  #lastMs = 0;
  #gaps = 0;
  #gapSumMs = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedMs = now();
  }

  /** A piece of a prompt is about to be computed; the first one begins the request. */
  prefill(tokens: number): void {
    const now = this.#now();
    this.#computedMs ??= now;
    if (tokens === 0 || this.#pieces.length === mostPieces) return;
    this.#pieces.push({ ms: now - this.#startedMs, tokens });
  }

  /** The first 1024 pieces of its prompts, in order. */
  get pieces(): readonly PromptPiece[] {
    return this.#pieces;
  }

  /**
   * A token of a choice came.
   *
   * @returns milliseconds since the choice's token before; `ttftMs` for the first token of all
   */
  token(choice: number): { readonly ttftMs?: number; readonly gapMs?: number } {
    const now = this.#now();
    const before = this.#lastOf.get(choice);
    this.#lastOf.set(choice, now);
    this.#lastMs = now;
    if (before !== undefined) {
      this.#gaps += 1;
      this.#gapSumMs += now - before;
      return { gapMs: now - before };
    }
    if (this.#firstMs !== undefined) return {};
    this.#firstMs = now;
    return { ttftMs: now - this.#startedMs };
  }

  /** What was measured so far. */
  timing(): RequestTiming {
    const first = this.#firstMs;
    const decodeMs = first === undefined || this.#gaps === 0 ? null : this.#lastMs - first;
    const begun = this.#computedMs;
    return {
      queueMs: begun === undefined ? null : begun - this.#startedMs,
      prefillMs: begun === undefined || first === undefined ? null : first - begun,
      ttftMs: first === undefined ? null : first - this.#startedMs,
      decodeMs,
      tokensPerSecond: decodeMs ? (1000 * this.#gaps) / decodeMs : null,
      meanItlMs: this.#gaps === 0 ? null : this.#gapSumMs / this.#gaps,
      totalMs: this.#now() - this.#startedMs,
    };
  }
}
