/**
 * A number in shared memory that the engine's thread renews; it can be read while that thread
 * hangs.
 */
export class Heartbeat {
  /** Crosses threads. */
  readonly memory: SharedArrayBuffer;
  readonly #second: Int32Array;

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#second = new Int32Array(memory);
  }

  beat(): void {
    Atomics.store(this.#second, 0, monotonicSecond());
  }

  /** Seconds since the last beat; undefined before the first. */
  get ageSeconds(): number | undefined {
    const second = Atomics.load(this.#second, 0);
    return second === 0 ? undefined : monotonicSecond() - second;
  }
}

/** The same clock in every thread, and no one sets it. Never 0. */
function monotonicSecond(): number {
  return 1 + Number(process.hrtime.bigint() / 1_000_000_000n);
}
