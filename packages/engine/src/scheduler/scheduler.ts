import type { PrefixCache } from '../pages/prefix-cache.js';
import type { Sequence } from '../sequence.js';
import type { Batch } from './batch.js';
import { DecodeSet } from './decode-set.js';
import { PrefillQueue } from './prefill-queue.js';

/** Limits of one step. */
export interface SchedulerOptions {
  readonly cache: PrefixCache;
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
  /** Counts the batches that were handed out. */
  #step = 0;

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

  /** Sequences that hold pages. */
  get live(): readonly Sequence[] {
    return [...this.#prefills.sequences, ...this.#decodes.rows];
  }

  /** Retires what ended, admits what fits, and says what the next step computes; undefined = nothing. */
  next(): Batch | undefined {
    const { cache } = this.#options;
    // One step at a time: the one before is over when the next is asked for.
    cache.landed(this.#step);
    this.#retire();
    this.#admit();
    const patient = cache.share(this.#prefills.sequences);
    const { maxBatchedTokens, maxPartialPrefills } = this.#options;
    const decode = [...this.#decodes.rows];
    const most = { tokens: maxBatchedTokens, sequences: maxPartialPrefills };
    const prefill = this.#prefills.pieces(most, patient);
    if (decode.length + prefill.length === 0) return undefined;
    this.#step += 1;
    for (const sequence of decode) cache.grow(sequence, sequence.computedTokens + 1);
    for (const { sequence, start, tokens } of prefill) cache.grow(sequence, start + tokens);
    return { decode, prefill };
  }

  /** Records that a batch is computed; call before its tokens are delivered. */
  commit(batch: Batch): void {
    const { cache } = this.#options;
    for (const sequence of batch.decode) sequence.computedTokens += 1;
    for (const { sequence, tokens } of batch.prefill) sequence.computedTokens += tokens;
    for (const sequence of batch.decode) cache.publish(sequence);
    for (const { sequence } of batch.prefill) cache.publish(sequence);
    for (const sequence of this.#prefills.remove((one) => one.remainingPrompt === 0)) {
      this.#decodes.add(sequence);
    }
  }

  /** Ends every sequence; used when the engine closes. */
  drain(end: (sequence: Sequence) => void): void {
    this.#options.cache.landed(this.#step);
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
      if (!next || !this.#options.cache.admit(next)) return;
      this.#waiting.shift();
      this.#prefills.add(next);
    }
  }

  #release(sequence: Sequence): void {
    this.#options.cache.freeAfter(this.#step, sequence);
  }
}
