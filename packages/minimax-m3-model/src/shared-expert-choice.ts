/** Whether the shared expert runs by itself or as one more slot of the routed experts. */

/**
 * `separate`: beside the routed experts, on a stream of its own where overlap applies. `fused`: one
 * more expert slot of weight 1. `auto`: measured at start for each batch size, the fastest way wins,
 * also before an overlap that does not pay.
 */
export type SharedExpertMode = 'separate' | 'fused' | 'auto';

/** One way of a pass; `serial` is separate without overlap. */
export type SharedExpertWay = 'separate' | 'serial' | 'fused';

/** One batch size, measured on MoE layers in replayed graphs; microseconds of one layer. */
export interface SharedExpertMeasurement {
  readonly tokens: number;
  readonly separateUs?: number;
  /** Absent where nothing overlaps anyway. */
  readonly serialUs?: number;
  /** Absent where the shared expert fits no slot. */
  readonly fusedUs?: number;
  readonly chosen: SharedExpertWay;
  /** Layers of the graphs. */
  readonly layers: number;
}

/** Decides for each pass; the decision depends on the number of tokens only. */
export class SharedExpertChoice {
  readonly mode: SharedExpertMode;
  readonly #measured = new Map<number, SharedExpertMeasurement>();

  constructor(mode: SharedExpertMode) {
    this.mode = mode;
  }

  /** The way of a pass of so many tokens. Sizes not measured run separately. */
  wayOf(tokens: number): SharedExpertWay {
    if (this.mode !== 'auto') return this.mode;
    return this.#measured.get(tokens)?.chosen ?? 'separate';
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
