/** Random numbers that are the same for the same seed, on every machine. */
export class SeededRandom {
  #state: number;

  /** @param seed a whole number */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Evenly in [0, 1). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.uniform() * (most - least + 1));
  }

  /** Gamma distributed with mean `shape` (Marsaglia and Tsang, 2000). */
  gamma(shape: number): number {
    if (shape < 1) return this.gamma(shape + 1) * (1 - this.uniform()) ** (1 / shape);
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.#normal();
      const v = (1 + c * x) ** 3;
      const limit = 0.5 * x * x + d - d * v + d * Math.log(v);
      if (v > 0 && Math.log(1 - this.uniform()) < limit) return d * v;
    }
  }

  /** The same items in another order. */
  shuffled<T>(items: readonly T[]): T[] {
    const all = [...items];
    for (let last = all.length - 1; last > 0; last -= 1) {
      const other = this.integer(0, last);
      [all[last], all[other]] = [all[other] as T, all[last] as T];
    }
    return all;
  }

  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }
}
