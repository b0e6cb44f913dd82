/** Whether the shared expert runs by itself or as one more slot of the routed experts. */

/**
 * `separate`: beside the routed experts, on a stream of its own where overlap applies. `fused`: one
 * more expert slot of weight 1. `auto`: measured at start for each batch size, the faster one wins.
 */
export type SharedExpertMode = 'separate' | 'fused' | 'auto';

/** One batch size, measured on one MoE layer in a replayed graph. */
export interface SharedExpertMeasurement {
  readonly tokens: number;
  readonly separateUs: number;
  readonly fusedUs: number;
  readonly chosen: 'separate' | 'fused';
}

/** Decides for each pass; the decision depends on the number of tokens only. */
export class SharedExpertChoice {
  readonly mode: SharedExpertMode;
  readonly #measured = new Map<number, SharedExpertMeasurement>();

  constructor(mode: SharedExpertMode) {
    this.mode = mode;
  }

  /** Whether a pass of so many tokens uses the fused slot. Sizes not measured run separately. */
  usesFused(tokens: number): boolean {
    if (this.mode !== 'auto') return this.mode === 'fused';
    return this.#measured.get(tokens)?.chosen === 'fused';
  }

  /** Takes a measurement into account. */
  record(measurement: SharedExpertMeasurement): void {
    this.#measured.set(measurement.tokens, measurement);
  }

  /** What was decided and why. */
  describe(): Record<string, unknown> {
    const measured = [...this.#measured.values()];
    if (this.mode !== 'auto') return { mode: this.mode };
    const otherwise = 'separate: this number of tokens was not measured';
    return { mode: this.mode, measured, otherwise };
  }
}
