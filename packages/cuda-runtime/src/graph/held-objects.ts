/**
 * JavaScript objects that a graph keeps: what the user gave to `retain`, and the callbacks of `notify`
 * nodes. Executables keep what was there when they were made.
 */
export class HeldObjects {
  readonly #objects: object[] = [];
  readonly #retained: object[] = [];

  /** Kept by the graph and its executables. */
  keep(object: object): void {
    this.#objects.push(object);
  }

  /** Kept by launches in flight as well. */
  retain(object: object): void {
    this.#retained.push(object);
  }

  /** What launches in flight must keep. */
  get retained(): readonly object[] {
    return this.#retained;
  }

  /** Takes over what another graph keeps. */
  take(other: HeldObjects): void {
    this.#objects.push(...other.#objects);
    this.#retained.push(...other.#retained);
  }

  /** The same objects, to be kept by somebody else. */
  copy(): HeldObjects {
    const copy = new HeldObjects();
    copy.take(this);
    return copy;
  }
}
