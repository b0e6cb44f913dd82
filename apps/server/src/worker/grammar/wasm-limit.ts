/** Bytes of wasm in one grammar worker; the library by itself would take two gigabytes. */
export const mostWasmBytes = 2 ** 30;

/** What is used of a wasm memory; Node's types have none. */
interface WasmMemory {
  readonly buffer: { readonly byteLength: number };
  grow(pages: number): number;
}

const { prototype } = (
  globalThis as unknown as { WebAssembly: { Memory: { prototype: WasmMemory } } }
).WebAssembly.Memory;

/**
 * Bounds the wasm memory of a thread, which the thread's `resourceLimits` do not count. The
 * library's allocator asks JavaScript for more, by `WebAssembly.Memory.grow`; where that refuses,
 * the library aborts.
 */
export class WasmLimit {
  readonly #mostBytes: number;
  /** Put back by `lift`. */
  readonly #grow = prototype.grow;
  #memory: WasmMemory | undefined;
  #baseBytes = 0;
  #workBytes = 0;
  #isReached = false;

  /** Holds from now on, for every memory that this thread has. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
    const refuse = (memory: WasmMemory, pages: number): boolean => this.#refuses(memory, pages);
    const grow = this.#grow;
    prototype.grow = function (this: WasmMemory, pages: number): number {
      if (refuse(this, pages))
        throw new RangeError('the wasm memory of this thread is at its limit');
      return grow.call(this, pages);
    };
  }

  /** More was asked for than there may be. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /**
   * Whether most of the memory was taken before the work that reached the limit began: then it is
   * not to blame, and can be done by a worker that is empty.
   */
  get wasFull(): boolean {
    const room = Math.max(0, this.#mostBytes - this.#baseBytes);
    return this.#isReached && this.#workBytes - this.#baseBytes > room / 2;
  }

  /** In words for the author of a grammar that is to blame. */
  get reason(): string {
    return `it needs more than ${Math.round(this.#mostBytes / 2 ** 20)} MiB`;
  }

  /** The library is loaded: what it has now, it needs for itself. */
  settle(): void {
    this.#baseBytes = this.#bytes;
    this.#workBytes = this.#bytes;
  }

  /** A piece of work begins. */
  begin(): void {
    this.#isReached = false;
    this.#workBytes = this.#bytes;
  }

  /** Ends it. */
  lift(): void {
    prototype.grow = this.#grow;
  }

  get #bytes(): number {
    return this.#memory?.buffer.byteLength ?? 0;
  }

  #refuses(memory: WasmMemory, pages: number): boolean {
    const { byteLength } = memory.buffer;
    // It has grown by nothing before.
    if (!this.#memory) this.#baseBytes = this.#workBytes = byteLength;
    this.#memory = memory;
    const isTooMuch = byteLength + pages * 65_536 > this.#mostBytes;
    // The allocator asks for more than it needs at first, and for less where that is refused.
    this.#isReached = isTooMuch;
    return isTooMuch;
  }
}
