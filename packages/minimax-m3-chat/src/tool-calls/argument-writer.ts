import type { DeltaQueue } from './output-delta.js';

/** UTF-16 units of one call's arguments, at most. */
const maxArgumentChars = 8 * 1024 * 1024;

/** Writes the arguments of one call as compact JSON, piece by piece. */
export class ArgumentWriter {
  readonly #deltas: DeltaQueue;
  readonly #index: number;
  #members = 0;
  #chars = 0;

  constructor(deltas: DeltaQueue, index: number) {
    this.#deltas = deltas;
    this.#index = index;
    this.#write('{');
  }

  /** True once the arguments grew beyond the limit: they stay truncated. */
  get isTooLarge(): boolean {
    return this.#chars > maxArgumentChars;
  }

  /** A whole member. */
  member(name: string, json: string): void {
    this.#key(name);
    this.#write(json);
  }

  /** Begins a member whose value is a string that grows. */
  beginString(name: string): void {
    this.#key(name);
    this.#write('"');
  }

  /** More of the string. A surrogate pair must not be split over two calls. */
  growString(text: string): void {
    this.#write(JSON.stringify(text).slice(1, -1));
  }

  /** The string is complete. */
  endString(): void {
    this.#write('"');
  }

  /** The arguments are complete. */
  close(): void {
    this.#write('}');
  }

  #key(name: string): void {
    this.#write(`${this.#members++ === 0 ? '' : ','}${JSON.stringify(name)}:`);
  }

  #write(text: string): void {
    this.#chars += text.length;
    if (!this.isTooLarge) this.#deltas.add({ type: 'tool-call-delta', index: this.#index, text });
  }
}
