import type { StepPlan } from '@altstream/engine';

/** A step as it was about to be computed. */
export type FlightRecord = Omit<StepPlan, 'pages' | 'scheduleMs'> & {
  /** By the clock of the process, which no one sets. */
  readonly atMs: number;
  readonly freePages: number;
  readonly evictablePages: number;
  readonly pinnedPages: number;
  readonly reservedPages: number;
};

const steps = 100;
const fields = [
  'atMs',
  'step',
  'decodeRows',
  'prefillPieces',
  'prefillTokens',
  'running',
  'waiting',
  'freePages',
  'evictablePages',
  'pinnedPages',
  'reservedPages',
] as const satisfies readonly (keyof FlightRecord)[];

/**
 * The last steps, in memory that outlives the engine's thread: the main thread reads it when that
 * thread is gone or hangs. Numbers only, so nothing of a prompt can get into it.
 */
export class FlightRecorder {
  /** Crosses threads. */
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  constructor(
    memory = new SharedArrayBuffer((1 + steps * fields.length) * Float64Array.BYTES_PER_ELEMENT),
  ) {
    this.memory = memory;
    this.#numbers = new Float64Array(memory);
  }

  /** Notes a step before it is computed. */
  add({ pages, ...plan }: Omit<StepPlan, 'scheduleMs'>, atMs = performance.now()): void {
    const record: FlightRecord = {
      ...plan,
      atMs,
      freePages: pages.free,
      evictablePages: pages.evictable,
      pinnedPages: pages.pinned,
      reservedPages: pages.reserved,
    };
    const count = this.#numbers[0] ?? 0;
    const start = 1 + (count % steps) * fields.length;
    fields.forEach((field, index) => {
      this.#numbers[start + index] = record[field];
    });
    this.#numbers[0] = count + 1;
  }

  /** The steps, oldest first. */
  get records(): FlightRecord[] {
    const count = this.#numbers[0] ?? 0;
    const first = Math.max(0, count - steps);
    return Array.from({ length: count - first }, (_, offset) => {
      const start = 1 + ((first + offset) % steps) * fields.length;
      const entries = fields.map((field, index) => [field, this.#numbers[start + index] ?? 0]);
      return Object.fromEntries(entries) as FlightRecord;
    });
  }
}
