import type { PageCopy } from '../../pages/page-copies.js';
import type { Sequence } from '../../sequence.js';
import type { BatchParts, PrefillPiece } from '../batch.js';
import { PageNumbers } from './page-numbers.js';
import type { Backlog, TraceHead, TraceLine, TracePages, TracePiece } from './trace-line.js';

/** Writes down what a scheduler was told and what it decided, without a word of any prompt. */
export class TraceRecorder {
  readonly #write: ((line: string) => void) | undefined;
  readonly #tenants = new Map<string, number>();
  readonly #numbers: PageNumbers | undefined;
  #asked: { next: number; backlog: Backlog; landed: number } = {
    next: 0,
    backlog: 'none',
    landed: 0,
  };
  #held: number[] = [];
  #over: number[] = [];
  #failed: number[] = [];
  #pages: TracePages[] = [];
  #expired: number[] = [];
  #preempted: number[] = [];
  #admitted: number[] = [];

  constructor(options: TraceHead['options'], write: ((line: string) => void) | undefined) {
    this.#write = write;
    if (write && options.prefixCaching) this.#numbers = new PageNumbers(options.pageTokens);
    this.#line({ trace: 'altstream-schedule', version: 3, options });
  }

  /** A sequence was queued. */
  added(sequence: Sequence, atMs: number): void {
    if (!this.#write) return;
    const { id, prompt, maxTokens, priority, tenant, deadlineMs, parameters } = sequence;
    const number = this.#tenants.get(tenant) ?? this.#tenants.size;
    this.#tenants.set(tenant, number);
    this.#line({
      add: id,
      atMs,
      promptTokens: prompt.length,
      maxTokens,
      priority,
      tenant: number,
      deadlineMs: deadlineMs ?? null,
      wantsPrompt: parameters.promptLogprobs !== undefined,
      pages: this.#numbers?.of(sequence, prompt.length) ?? [id],
      tail: this.#numbers?.ofTail(sequence) ?? 0,
    });
  }

  /** The next batch is wanted. */
  asked(nowMs: number, backlog: Backlog, landed: number): void {
    if (!this.#write) return;
    this.#asked = { next: nowMs, backlog, landed };
    this.#held = [];
    this.#over = [];
    this.#failed = [];
    this.#pages = [];
    this.#expired = [];
    this.#preempted = [];
    this.#admitted = [];
  }

  /** Decoding sequences that wait for their matchers. */
  held(sequences: readonly Sequence[]): void {
    if (this.#write) this.#held = sequences.map(({ id }) => id);
  }

  /** A computed token of a sequence could not be drawn. */
  late({ id }: Sequence): void {
    this.#line({ late: id });
  }

  /** A sequence had ended before the scheduler was asked. */
  over({ id, outcome }: Sequence): void {
    if (!this.#write) return;
    this.#over.push(id);
    if (outcome === 'error') this.#failed.push(id);
  }

  /** The time of a sequence is over. */
  expired({ id }: Sequence): void {
    if (this.#write) this.#expired.push(id);
  }

  /** A sequence lost its pages. */
  preempted(sequence: Sequence): void {
    if (!this.#write) return;
    this.#preempted.push(sequence.id);
    this.#pages.push(...this.#newPages(sequence, sequence.knownTokens));
  }

  /** A sequence may start. */
  admitted({ id }: Sequence): void {
    if (this.#write) this.#admitted.push(id);
  }

  /** The answer to what was asked. */
  decided(
    { decode, prefill }: BatchParts,
    copies: readonly PageCopy[],
    after: { readonly availablePages: number },
  ): void {
    if (!this.#write) return;
    this.#line({
      ...this.#asked,
      ...(this.#held.length > 0 && { held: this.#held }),
      over: this.#over,
      failed: this.#failed,
      pages: this.#pages,
      decided: {
        expired: this.#expired,
        preempted: this.#preempted,
        admitted: this.#admitted,
        decode: decode.map(({ id }) => id),
        prefill: prefill.map(pieceOf),
        copied: copies.map(({ sequence }) => sequence.id),
        availablePages: after.availablePages,
      },
    });
  }

  /** The prefix cache was flushed. */
  flushed(): void {
    this.#line({ flush: true });
  }

  /** A part of a batch was computed; call when it is counted. */
  committed(
    decode: readonly Sequence[],
    prefill: readonly PrefillPiece[],
    prefillMs: number | undefined,
  ): void {
    if (!this.#write) return;
    this.#line({
      commit: decode.map(({ id }) => id),
      prefill: prefill.map(pieceOf),
      prefillMs: prefillMs ?? null,
      pages: [
        ...decode.flatMap((one) => this.#newPages(one, one.certainTokens)),
        ...prefill.flatMap(({ sequence }) => this.#newPages(sequence, sequence.certainTokens)),
      ],
    });
  }

  #newPages(sequence: Sequence, tokens: number): TracePages[] {
    const pages = this.#numbers?.of(sequence, tokens);
    return pages && pages.length > 1 ? [pages] : [];
  }

  #line(line: TraceLine): void {
    this.#write?.(JSON.stringify(line));
  }
}

function pieceOf({ sequence, start, tokens }: PrefillPiece): TracePiece {
  return [sequence.id, start, tokens];
}
