import type { PagePool } from '../page-pool.js';
import type { Sequence } from '../sequence.js';
import type { Batch } from './batch.js';
import { DecodeSet } from './decode-set.js';
import { PrefillQueue } from './prefill-queue.js';

/** Limits of one step. */
export interface SchedulerOptions {
  readonly pool: PagePool;
  readonly pageTokens: number;
  /** Most sequences that run at the same time. */
  readonly maxSequences: number;
  /** Most prompt tokens of a step. */
  readonly maxBatchedTokens: number;
  /** Most prompts that share a step's prefill. */
  readonly maxPartialPrefills: number;
}

/**
 * Decides what runs next. Pure bookkeeping: it touches no device and reads no clock, so the same
 * calls in the same order give the same batches.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #waiting: Sequence[] = [];
  readonly #prefills = new PrefillQueue();
  readonly #decodes = new DecodeSet();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** Sequences not admitted yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Sequences that hold pages. */
  get running(): number {
    return this.#prefills.length + this.#decodes.rows.length;
  }

  get isIdle(): boolean {
    return this.waiting + this.running === 0;
  }

  /** Queues a new sequence. */
  add(sequence: Sequence): void {
    this.#waiting.push(sequence);
  }

  /** Retires what ended, admits what fits, and says what the next step computes; undefined = nothing. */
  next(): Batch | undefined {
    this.#retire();
    this.#admit();
    const { maxBatchedTokens, maxPartialPrefills } = this.#options;
    const decode = [...this.#decodes.rows];
    const prefill = this.#prefills.pieces(maxBatchedTokens, maxPartialPrefills);
    if (decode.length + prefill.length === 0) return undefined;
    for (const sequence of decode) this.#growPages(sequence, sequence.computedTokens + 1);
    for (const { sequence, start, tokens } of prefill) this.#growPages(sequence, start + tokens);
    return { decode, prefill };
  }

  /** Records that a batch is computed; call before its tokens are delivered. */
  commit(batch: Batch): void {
    for (const sequence of batch.decode) sequence.computedTokens += 1;
    for (const { sequence, tokens } of batch.prefill) sequence.computedTokens += tokens;
    for (const sequence of this.#prefills.remove((one) => one.remainingPrompt === 0)) {
      this.#decodes.add(sequence);
    }
  }

  /** Ends every sequence; used when the engine closes. */
  drain(end: (sequence: Sequence) => void): void {
    for (const sequence of this.abandon()) {
      const wasAdmitted = sequence.state !== 'waiting';
      end(sequence);
      if (wasAdmitted) this.#release(sequence);
    }
  }

  /** Forgets every sequence, and its pages with it: nobody will use the pool again. */
  abandon(): Sequence[] {
    const all = () => true;
    return [
      ...this.#waiting.splice(0),
      ...this.#prefills.remove(all),
      ...this.#decodes.remove(all),
    ];
  }

  /** Gives back the pages of every sequence that finished or was given up. */
  #retire(): void {
    const isOver = (sequence: Sequence): boolean => {
      if (sequence.isAborted) sequence.finish('abort');
      return sequence.state === 'finished';
    };
    for (const sequence of this.#prefills.remove(isOver)) this.#release(sequence);
    for (const sequence of this.#decodes.remove(isOver)) this.#release(sequence);
    const kept = this.#waiting.filter((sequence) => !isOver(sequence));
    this.#waiting.splice(0, this.#waiting.length, ...kept);
  }

  /** First come, first served: a large request at the front is never passed over, so it cannot starve. */
  #admit(): void {
    while (this.running < this.#options.maxSequences) {
      const next = this.#waiting[0];
      if (!next || !this.#options.pool.reserve(next.reservedPages)) return;
      this.#waiting.shift();
      this.#prefills.add(next);
    }
  }

  #growPages(sequence: Sequence, tokens: number): void {
    const wanted = Math.ceil(tokens / this.#options.pageTokens);
    while (sequence.pages.length < wanted) sequence.pages.push(this.#options.pool.take());
  }

  #release(sequence: Sequence): void {
    this.#options.pool.giveBack(sequence.pages, sequence.reservedPages);
    sequence.pages.length = 0;
  }
}
