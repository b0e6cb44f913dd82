import { DeadlineError } from '../errors/index.js';
import type { PrefixCache } from '../pages/prefix-cache.js';
import type { Sequence } from '../sequence.js';
import type { Batch, PrefillPiece } from './batch.js';
import { DecodeSet } from './decode-set.js';
import { Headroom } from './headroom.js';
import { PrefillPace } from './prefill-pace.js';
import { PrefillQueue } from './prefill-queue.js';
import type { Backlog } from './trace/trace-line.js';
import { TraceRecorder } from './trace/trace-recorder.js';
import { chooseVictim, losesLess } from './victim.js';
import { WaitingQueue } from './waiting-queue.js';

/** Limits of one step. */
export interface SchedulerOptions {
  readonly cache: PrefixCache;
  /** Most sequences that run at the same time. */
  readonly maxSequences: number;
  /** Most prompt tokens of a step. */
  readonly maxBatchedTokens: number;
  /** Most prompts that share a step's prefill. */
  readonly maxPartialPrefills: number;
  /** Most tokens of one prompt in a step; 0 = no limit of its own. */
  readonly longPrefillTokenThreshold: number;
  /** Longest that a chunk of prompts may keep decoding sequences waiting; 0 = no limit. */
  readonly itlTargetMs: number;
  /** Longest wait for the first admission; 0 = no limit. */
  readonly queueTimeoutMs: number;
  /** Told every call and every decision, as lines of JSON. */
  readonly onTrace?: ((line: string) => void) | undefined;
}

/** Counters of the scheduler's decisions. */
export interface SchedulerCounts {
  /** Sequences that gave up their pages and start anew. */
  readonly preemptions: number;
  /** Of these, the ones that wait for a place at the moment. */
  readonly preempted: number;
  /** Sequences whose time was over. */
  readonly expired: number;
}

/**
 * Decides what runs next. Pure bookkeeping: it touches no device and reads no clock but the one that it is
 * told, so the same calls in the same order give the same batches, and a trace of the calls replays them.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #waiting = new WaitingQueue();
  readonly #prefills = new PrefillQueue();
  readonly #decodes = new DecodeSet();
  readonly #headroom = new Headroom();
  readonly #pace = new PrefillPace();
  readonly #trace: TraceRecorder;
  readonly #counts = { preemptions: 0, expired: 0 };
  #step = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { cache, onTrace } = options;
    this.#trace = new TraceRecorder(
      {
        pages: cache.totalPages,
        pageTokens: cache.pageTokens,
        prefixCaching: cache.isEnabled,
        maxSequences: options.maxSequences,
        maxBatchedTokens: options.maxBatchedTokens,
        maxPartialPrefills: options.maxPartialPrefills,
        longPrefillTokenThreshold: options.longPrefillTokenThreshold,
        itlTargetMs: options.itlTargetMs,
        queueTimeoutMs: options.queueTimeoutMs,
      },
      onTrace,
    );
  }

  /** Sequences that hold no pages: new ones, and preempted ones. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Prompt tokens of those. */
  get waitingTokens(): number {
    return this.#waiting.tokens;
  }

  /** Sequences that were admitted. */
  get running(): number {
    return this.#prefills.sequences.length + this.#decodes.rows.length;
  }

  get isIdle(): boolean {
    return this.waiting + this.running === 0;
  }

  get counts(): SchedulerCounts {
    return { ...this.#counts, preempted: this.#waiting.preempted };
  }

  /** Sequences that hold pages. */
  get live(): readonly Sequence[] {
    return [...this.#prefills.sequences, ...this.#decodes.rows];
  }

  /** Queues a new sequence. */
  add(sequence: Sequence, nowMs: number): void {
    sequence.arrivalMs = nowMs;
    this.#trace.added(sequence, nowMs);
    this.#waiting.add(sequence);
  }

  /**
   * Retires what ended, admits what fits, and says what the next step computes; undefined = nothing.
   *
   * @param nowMs the clock
   */
  next(nowMs: number, backlog: Backlog = 'none'): Batch | undefined {
    const { cache } = this.#options;
    this.#trace.asked(nowMs, backlog);
    // One step at a time: the one before is over when the next is asked for.
    cache.landed(this.#step);
    this.#retire(nowMs);
    const batch = backlog === 'stuck' ? emptyBatch : this.#batch(nowMs, backlog);
    this.#trace.decided(batch, cache.availablePages);
    if (batch.decode.length + batch.prefill.length === 0) return undefined;
    this.#step += 1;
    return batch;
  }

  /**
   * Records that a batch is computed; call before its tokens are delivered.
   *
   * @param prefillMs how long its prompts took, if that was measured
   */
  commit(batch: Batch, prefillMs?: number): void {
    this.#trace.committed(batch, prefillMs);
    for (const sequence of batch.decode) {
      sequence.computedTokens += 1;
      this.#waiting.chargeToken(sequence);
    }
    for (const { sequence, tokens } of batch.prefill) sequence.computedTokens += tokens;
    const { cache } = this.#options;
    for (const sequence of batch.decode) cache.publish(sequence);
    for (const { sequence } of batch.prefill) cache.publish(sequence);
    if (prefillMs !== undefined) this.#pace.observe({ ...extentOf(batch.prefill), ms: prefillMs });
    for (const sequence of this.#prefills.remove((one) => one.remainingPrefill === 0)) {
      this.#decodes.add(sequence);
    }
  }

  /** Forgets the computed pages that no sequence holds. @returns how many those were */
  flush(): number {
    this.#trace.flushed();
    return this.#options.cache.flush();
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
      ...this.#waiting.remove(all),
      ...this.#prefills.remove(all),
      ...this.#decodes.remove(all),
    ];
  }

  #batch(nowMs: number, backlog: Backlog): Batch {
    this.#headroom.decay();
    const stalled = this.#growDecodes();
    const mayPrefill = backlog === 'none';
    if (mayPrefill) this.#admit(nowMs);
    const decode = this.#decodes.rows.filter((sequence) => !stalled.has(sequence));
    const prefill = mayPrefill ? this.#growPrefills(decode.length > 0) : [];
    if (decode.length + prefill.length > 0 || this.running === 0) return { decode, prefill };
    return mayPrefill ? this.#force() : emptyBatch;
  }

  /** Gives back the pages of every sequence that finished, was given up, or whose time is over. */
  #retire(nowMs: number): void {
    const isOver = (sequence: Sequence): boolean => {
      const isNew = sequence.state !== 'finished' && !sequence.isAborted;
      const late = isNew ? this.#lateness(sequence, nowMs) : undefined;
      if (late) {
        this.#counts.expired += 1;
        this.#trace.expired(sequence);
        sequence.finish('error', { error: late });
      } else if (!isNew) this.#trace.over(sequence);
      if (sequence.isAborted) sequence.finish('abort');
      return sequence.state === 'finished';
    };
    for (const sequence of this.#prefills.remove(isOver)) this.#release(sequence);
    for (const sequence of this.#decodes.remove(isOver)) this.#release(sequence);
    this.#waiting.remove(isOver);
    this.#waiting.forgetIdle(this.live);
  }

  #lateness(sequence: Sequence, nowMs: number): DeadlineError | undefined {
    const { queueTimeoutMs } = this.#options;
    const { deadlineMs, arrivalMs, admissions } = sequence;
    if (deadlineMs !== undefined && nowMs >= deadlineMs) {
      const detail = `${sequence.generated.length} tokens were generated`;
      return new DeadlineError('request', `the time of the request is over; ${detail}`);
    }
    if (queueTimeoutMs === 0 || admissions > 0 || nowMs - arrivalMs < queueTimeoutMs)
      return undefined;
    const detail = `waited ${Math.round(nowMs - arrivalMs)} ms for a place, of ${queueTimeoutMs} at most`;
    return new DeadlineError('queue', `the request ${detail}; try again later`);
  }

  /** A large request whose turn it is is never passed over, so it cannot starve. */
  #admit(nowMs: number): void {
    const { cache, maxSequences } = this.#options;
    while (this.running < maxSequences) {
      const next = this.#waiting.head(nowMs);
      if (!next || !cache.admit(next, this.#heldBack())) return;
      this.#waiting.take(next);
      next.admit(this.#step);
      this.#prefills.add(next);
      this.#trace.admitted(next);
    }
  }

  #heldBack(): number {
    const { pageTokens } = this.#options.cache;
    return this.running === 0 ? 0 : this.#headroom.pages(this.live, pageTokens);
  }

  /** Makes room for a token of every decoding sequence. @returns those that have none in this step */
  #growDecodes(): ReadonlySet<Sequence> {
    const { cache } = this.#options;
    const stalled = new Set<Sequence>();
    const needy = this.#decodes.rows.filter(
      ({ computedTokens, pages }) => computedTokens >= pages.length * cache.pageTokens,
    );
    // Whoever would be preempted last takes pages first.
    if (needy.length > cache.availablePages) needy.sort((a, b) => (losesLess(a, b) ? 1 : -1));
    for (const sequence of needy) {
      if (sequence.state !== 'decoding') continue;
      if (!this.#makeRoom(sequence, this.#step)) stalled.add(sequence);
    }
    return stalled;
  }

  /** Pieces of prompts; their pages were promised. */
  #growPrefills(isDecoding: boolean): PrefillPiece[] {
    const { cache, maxPartialPrefills, longPrefillTokenThreshold } = this.#options;
    const patient = cache.share(this.#prefills.sequences);
    const limits = {
      budgetTokens: this.#budget(isDecoding),
      mostSequences: maxPartialPrefills,
      longTokens: longPrefillTokenThreshold,
    };
    const pieces = this.#prefills.pieces(limits, patient);
    for (const { sequence, start, tokens } of pieces) cache.grow(sequence, start + tokens);
    return pieces;
  }

  /** While others decode, a chunk of prompts may not keep them waiting for longer than the target. */
  #budget(isDecoding: boolean): number {
    const { cache, itlTargetMs, maxBatchedTokens } = this.#options;
    const { pageTokens } = cache;
    const first = this.#prefills.sequences[0];
    if (!isDecoding || itlTargetMs === 0 || !first) return maxBatchedTokens;
    const depth = first.computedTokens + 1;
    const tokens = this.#pace.tokensWithin(itlTargetMs, { depth, pageTokens });
    return Math.min(maxBatchedTokens, tokens ?? maxBatchedTokens);
  }

  /** Nobody can move: whoever would lose most goes on, and the protected give way, too. */
  #force(): Batch {
    const [first] = [...this.#decodes.rows].sort((a, b) => (losesLess(a, b) ? 1 : -1));
    if (!first || !this.#makeRoom(first, undefined)) return emptyBatch;
    return { decode: [first], prefill: [] };
  }

  /** Room for one more token; takes pages of others if it must. False: not in this step. */
  #makeRoom(sequence: Sequence, step: number | undefined): boolean {
    while (!this.#options.cache.grow(sequence, sequence.computedTokens + 1)) {
      const victim = chooseVictim(this.live, sequence, step);
      if (!victim) return false;
      this.#preempt(victim);
      if (victim === sequence) return false;
    }
    return true;
  }

  /** It loses its pages, not its place: it waits as what came when it came. */
  #preempt(victim: Sequence): void {
    const isVictim = (sequence: Sequence): boolean => sequence === victim;
    this.#prefills.remove(isVictim);
    this.#decodes.remove(isVictim);
    this.#release(victim);
    victim.prefillTokens = victim.knownTokens;
    this.#counts.preemptions += 1;
    this.#headroom.raise();
    this.#trace.preempted(victim);
    this.#waiting.add(victim);
  }

  #release(sequence: Sequence): void {
    this.#options.cache.freeAfter(this.#step, sequence);
  }
}

const emptyBatch: Batch = { decode: [], prefill: [] };

function extentOf(pieces: readonly PrefillPiece[]): { depth: number; tokens: number } {
  return {
    depth: Math.max(0, ...pieces.map(({ start }) => start + 1)),
    tokens: pieces.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
