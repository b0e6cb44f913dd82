/**
 * JavaScript objects that a graph keeps: what the user gave to `retain`, and the callbacks of
 * `notify` nodes. Executables keep what was there when they were made, launches in flight what
 * their executable has.
 */
export class HeldObjects {
  readonly #objects: object[] = [];

  /** Kept from now on. */
  keep(object: object): void {
    this.#objects.push(object);
  }

  /** What is kept. */
  get objects(): readonly object[] {
    return this.#objects;
  }

  /** Takes over what another graph keeps. */
  take(other: HeldObjects): void {
    // One by one: as arguments of one call, 100,000 objects overflow the stack. A copy, since the
    // other may be this one.
    for (const object of other.#objects.slice()) this.#objects.push(object);
  }

  /** The same objects, to be kept by somebody else. */
  copy(): HeldObjects {
    const copy = new HeldObjects();
    copy.take(this);
    return copy;
  }
}
