/** Whether the shared expert runs by itself or as one more slot of the routed experts. */

/**
 * `separate`: beside the routed experts, on a stream of its own where overlap applies. `fused`: one
 * more expert slot of weight 1. `auto`: measured at start for each batch size, the fastest way
 * wins, also before an overlap that does not pay.
 */
export type SharedExpertMode = 'separate' | 'fused' | 'auto';

/** One way of a pass; `serial` is separate without overlap. */
export type SharedExpertWay = 'separate' | 'serial' | 'fused';

/** One batch size, measured on whole decoder layers in replayed graphs; median µs of one layer. */
export interface SharedExpertMeasurement {
  readonly tokens: number;
  readonly separateUs?: number;
  /** Absent where nothing overlaps anyway. */
  readonly serialUs?: number;
  /** Absent where the shared expert fits no slot. */
  readonly fusedUs?: number;
  readonly chosen: SharedExpertWay;
  /** The reason for `chosen`, in words. */
  readonly why: string;
  /** Decoder layers of the graphs. */
  readonly layers: number;
  /** Timed replays of each graph. */
  readonly replays: number;
  /** What measuring this batch size took, captures included. */
  readonly seconds: number;
}

/** How much faster than a simpler way another must be: about what two runs differ by. */
const margin = 0.01;
const asked = `the ${margin * 100} % asked for`;

/** The simplest first. A second stream's gain depends the most on what else the device does. */
const bySimplicity = ['serial', 'fused', 'separate'] as const;

/**
 * The fastest way, unless it wins less than the margin over a simpler one. Without `serial` (no
 * overlap) `separate` is the serial order, and the simplest.
 *
 * @param us time of each of the ways, in whatever unit
 */
export function chooseWay(
  ways: readonly SharedExpertWay[],
  us: readonly number[],
): { readonly chosen: SharedExpertWay; readonly why: string } {
  const plain = ways.includes('serial') ? 'serial' : 'separate';
  const timeOf = (way: SharedExpertWay) => us[ways.indexOf(way)] ?? Number.POSITIVE_INFINITY;
  const saved = (way: SharedExpertWay, over: SharedExpertWay) =>
    `${way} saves ${((1 - timeOf(way) / timeOf(over)) * 100).toFixed(1)} % over ${over}`;
  const fastest = ways[us.indexOf(Math.min(...us))] ?? plain;
  if (fastest === plain) return { chosen: plain, why: 'the fastest' };
  let chosen: SharedExpertWay = plain;
  for (const way of bySimplicity) {
    if (timeOf(way) < timeOf(chosen) * (1 - margin)) chosen = way;
  }
  if (chosen === fastest) return { chosen, why: saved(fastest, plain) };
  const tooLittle = `${saved(fastest, chosen)}, less than ${asked}`;
  return { chosen, why: chosen === plain ? tooLittle : `${saved(chosen, plain)}; ${tooLittle}` };
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

  /** What the way of a pass of so many tokens rests on; undefined where nothing was measured. */
  measurementOf(tokens: number): SharedExpertMeasurement | undefined {
    return this.mode === 'auto' ? this.#measured.get(tokens) : undefined;
  }

  /** What was decided and why. */
  describe(): Record<string, unknown> {
    const measured = [...this.#measured.values()];
    if (this.mode !== 'auto') return { mode: this.mode };
    const seconds = measured.reduce((sum, one) => sum + one.seconds, 0);
    const otherwise = 'separate: this number of tokens was not measured';
    return { mode: this.mode, measured, seconds, otherwise };
  }
}
