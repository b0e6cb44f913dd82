/** What the matcher worker is at. */
export interface MatcherWork {
  readonly matcher: number;
  /** Rises with each piece of work. */
  readonly turn: number;
  /** Milliseconds of its thread that it may take. */
  readonly limitMs: number;
}

const cells = { matcher: 0, turn: 1, limitMs: 2 } as const;

/**
 * Written by the matcher worker, and read by the main thread while that one computes, or is no
 * more.
 */
export class MatcherState {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(memory = new SharedArrayBuffer(4 * Object.keys(cells).length)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory);
  }

  /** A call into the library begins, from which it may not come back. */
  begin(matcher: number, limitMs: number): void {
    Atomics.store(this.#cells, cells.limitMs, Math.ceil(limitMs));
    Atomics.add(this.#cells, cells.turn, 1);
    Atomics.store(this.#cells, cells.matcher, matcher);
  }

  /** It came back. */
  end(): void {
    Atomics.store(this.#cells, cells.matcher, 0);
  }

  /** Undefined while there is nothing to do. */
  get work(): MatcherWork | undefined {
    const matcher = Atomics.load(this.#cells, cells.matcher);
    if (matcher === 0) return undefined;
    const turn = Atomics.load(this.#cells, cells.turn);
    return { matcher, turn, limitMs: Atomics.load(this.#cells, cells.limitMs) };
  }
}
