import type { DeadlineError } from '../errors/index.js';
import type { PageCopy } from '../pages/page-copies.js';
import type { Sequence } from '../sequence.js';
import {
  type Batch,
  type BatchParts,
  emptyBatch,
  extentOf,
  noPieces,
  type PrefillPiece,
} from './batch.js';
import { DecodeRoom } from './decode-room.js';
import { Headroom } from './headroom.js';
import { lateness } from './lateness.js';
import { PrefillPace } from './prefill-pace.js';
import { RunningSet } from './running-set.js';
import type { SchedulerCounts, SchedulerOptions } from './scheduler-options.js';
import { joined } from './seldom-lists.js';
import { TenantShare } from './tenant-share.js';
import type { Backlog } from './trace/trace-line.js';
import { TraceRecorder } from './trace/trace-recorder.js';
import { WaitingQueue } from './waiting-queue.js';

/**
 * Decides what runs next. Pure bookkeeping: it touches no device and reads no clock but the one
 * that it is told, so the same calls in the same order give the same batches, and a trace of the
 * calls replays them.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #waiting: WaitingQueue;
  readonly #running = new RunningSet();
  readonly #room: DecodeRoom;
  readonly #headroom = new Headroom();
  readonly #pace = new PrefillPace();
  readonly #trace: TraceRecorder;
  readonly #shares: TenantShare;
  readonly #counts = { preemptions: 0, expired: 0, sharePreemptions: 0, tenantsAtShare: 0 };
  #step = 0;
  #landed = 0;
  /** The clock of the last decision. */
  #nowMs = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { cache, onTrace, maxTenantShare = 1 } = options;
    this.#shares = new TenantShare(cache, maxTenantShare);
    this.#waiting = new WaitingQueue((sequence) => cache.search.foundTokens(sequence));
    const preempt = (victim: Sequence, isForShare: boolean): void => {
      this.#preempt(victim);
      if (isForShare) this.#counts.sharePreemptions += 1;
    };
    const shares = this.#shares;
    this.#room = new DecodeRoom({ cache, running: this.#running, shares, preempt });
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
        ...(maxTenantShare < 1 && { maxTenantShare }),
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

  /** The same by tenant, of those that have any. */
  waitingTokensByTenant(): ReadonlyMap<string, number> {
    return this.#waiting.tokensByTenant();
  }

  /** Sequences of a tenant that wait or run. */
  requestsOf(tenant: string): number {
    const running = this.live.filter((one) => one.tenant === tenant).length;
    return this.#waiting.lengthOf(tenant) + running;
  }

  /** Sequences that were admitted, with those whose last step is not over. */
  get running(): number {
    return this.#running.count;
  }

  /** The last answer of `next` would be another if no step were under way: pages are lacking. */
  get lacksPages(): boolean {
    return this.#room.isLacking;
  }

  /** The last answer of `next` would go on if it were asked again: it has more to look for. */
  get isSearching(): boolean {
    return this.#options.cache.search.isCut;
  }

  get isIdle(): boolean {
    return this.waiting + this.running === 0;
  }

  get counts(): SchedulerCounts {
    const largestTenantPages = this.#shares.largest(this.live);
    return { ...this.#counts, preempted: this.#waiting.preempted, largestTenantPages };
  }

  /** Sequences that hold pages. */
  get live(): readonly Sequence[] {
    return this.#running.live;
  }

  /** Queues a new sequence. */
  add(sequence: Sequence, nowMs: number): void {
    sequence.arrivalMs = nowMs;
    this.#trace.added(sequence, nowMs);
    this.#waiting.add(sequence);
  }

  /**
   * Retires what ended, admits what fits, and says what the next step computes; undefined =
   * nothing, or nothing before the steps under way are over. What it says counts as launched.
   *
   * @param nowMs the clock
   */
  next(nowMs: number, backlog: Backlog = 'none'): Batch | undefined {
    const { cache } = this.#options;
    this.#trace.asked(nowMs, backlog, this.#landed);
    cache.landed(this.#landed);
    cache.begin();
    // Of one that failed nobody takes anything.
    if (!this.#running.some(hasFailed)) {
      cache.handOver(this.#running.prefills.sequences);
    }
    this.#retire(nowMs);
    this.#room.begin();
    this.#running.decodes.settle();
    this.#trace.held(this.#running.decodes.held);
    if (backlog === 'stuck') this.#counts.tenantsAtShare = 0;
    const parts = backlog === 'stuck' ? emptyBatch : this.#batch(nowMs, backlog);
    const isStep = parts.decode.length + parts.prefill.length > 0;
    const copies = isStep ? cache.takeCopies() : noCopies;
    this.#trace.decided(parts, copies, cache);
    if (!isStep) return undefined;
    this.#step += 1;
    this.#launch(parts);
    const { decode, prefill } = parts;
    return { decode, prefill, copies, step: this.#step, lacksPages: this.lacksPages };
  }

  /**
   * Records that a part of a batch is computed, in the order of the steps; call before its tokens
   * are delivered. A token drawn for a sequence that has ended is none.
   *
   * @param prefillMs how long its prompts took, if that was measured
   */
  commit(parts: BatchParts, prefillMs?: number): void {
    const { prefill } = parts;
    const hasEnded = parts.decode.some(isOver);
    const decode = hasEnded ? parts.decode.filter((one) => !isOver(one)) : parts.decode;
    for (const sequence of decode) {
      sequence.landedTokens += 1;
      this.#waiting.chargeToken(sequence);
    }
    for (const { sequence, tokens } of prefill) sequence.landedTokens += tokens;
    this.#trace.committed(decode, prefill, prefillMs);
    const { cache } = this.#options;
    for (const sequence of decode) cache.publish(sequence);
    for (const { sequence } of prefill) cache.publish(sequence);
    if (prefillMs !== undefined) this.#pace.observe({ ...extentOf(prefill), ms: prefillMs });
  }

  /**
   * A token that was computed for the sequence could not be drawn, as its matcher was late: a later
   * step computes it again. Such a token is not part of what is committed, and no step is under
   * way.
   */
  hold(sequence: Sequence): void {
    if (sequence.state === 'finished') return;
    sequence.computedTokens -= 1;
    this.#trace.late(sequence);
  }

  /** Nothing of the steps up to this one runs any more. */
  landed(step: number): void {
    this.#landed = Math.max(this.#landed, step);
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
  abandon(): readonly Sequence[] {
    const all = () => true;
    return joined(this.#waiting.remove(all), this.#running.remove(all));
  }

  get #isFlying(): boolean {
    return this.#landed < this.#step;
  }

  #batch(nowMs: number, backlog: Backlog): BatchParts {
    const stalled = this.#room.grow(this.#isFlying ? undefined : this.#step);
    // Who gives way is decided when it is known who ended.
    if (this.lacksPages && this.#isFlying) return emptyBatch;
    this.#headroom.decay();
    const mayPrefill = backlog === 'none';
    this.#counts.tenantsAtShare = mayPrefill ? this.#admit(nowMs) : 0;
    const patient = mayPrefill ? this.#share() : undefined;
    const { rows } = this.#running.decodes;
    const decode = stalled.size > 0 ? rows.filter((one) => !stalled.has(one)) : rows;
    const prefill = patient ? this.#growPrefills(decode.length > 0, patient) : noPieces;
    if (decode.length + prefill.length > 0 || this.#running.places === 0)
      return { decode, prefill };
    const isStuck = mayPrefill && !this.#isFlying && !this.isSearching;
    const forced = isStuck ? this.#room.force() : undefined;
    return forced ? { decode: [forced], prefill: noPieces } : emptyBatch;
  }

  /** What was decided is on its way: the next step builds on it. */
  #launch({ decode, prefill }: BatchParts): void {
    for (const sequence of decode) sequence.launch(1, this.#step);
    for (const { sequence, tokens } of prefill) sequence.launch(tokens, this.#step);
    this.#toRows(isComputed);
  }

  /** Gives back the pages of every sequence that finished, was given up, or whose time is over. */
  #retire(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const sequence of this.#running.remove(this.#ends)) this.#release(sequence);
    this.#waiting.remove(this.#ends);
    this.#waiting.forgetIdle(this.#isBusy);
    this.#running.end(this.#needsNoMore);
  }

  // Made once, and not at each decision.

  /** Ends the sequence if it is to end now. @returns whether it has ended */
  readonly #ends = (sequence: Sequence): boolean => {
    const isNew = sequence.state !== 'finished' && !sequence.isAborted;
    // What is on its way is awaited: it was computed in time.
    const late = isNew && !sequence.isInFlight ? this.#lateness(sequence) : undefined;
    if (late) {
      this.#counts.expired += 1;
      this.#trace.expired(sequence);
      sequence.finish('error', { error: late });
    } else if (!isNew) this.#trace.over(sequence);
    if (sequence.isAborted) sequence.finish('abort');
    return sequence.state === 'finished';
  };

  /** Whether the step under way is its last one. */
  readonly #needsNoMore = (sequence: Sequence): boolean =>
    sequence.isInFlight &&
    (sequence.drawnTokens >= sequence.maxTokens || this.#lateness(sequence) !== undefined);

  /** Whether a sequence of the tenant runs. */
  readonly #isBusy = (tenant: string): boolean =>
    this.#running.some((sequence) => sequence.tenant === tenant);

  #lateness(sequence: Sequence): DeadlineError | undefined {
    return lateness(sequence, this.#nowMs, this.#options.queueTimeoutMs);
  }

  /**
   * A large request whose turn it is is never passed over but for its tenant's share, so it cannot
   * starve.
   *
   * @returns tenants of which only their share kept one waiting
   */
  #admit(nowMs: number): number {
    if (this.#waiting.length === 0) return 0;
    const { cache, maxSequences } = this.#options;
    const full = new Set<string>();
    while (this.#running.places < maxSequences) {
      const next = this.#waiting.head(nowMs, full);
      if (!next) return full.size;
      const ofTenant = (): number => this.#heldBack(this.#shares.of(next, this.#running.placed));
      if (!this.#shares.admits(next, this.live, ofTenant)) {
        full.add(next.tenant);
        continue;
      }
      if (!cache.admit(next, this.#heldBack(this.#running.placed))) return full.size;
      this.#waiting.take(next, nowMs);
      next.admit(this.#step);
      this.#running.prefills.add(next);
      this.#trace.admitted(next);
    }
    return 0;
  }

  #heldBack(placed: readonly Sequence[]): number {
    const { pageTokens } = this.#options.cache;
    return placed.length === 0 ? 0 : this.#headroom.pages(placed, pageTokens);
  }

  /**
   * Gives prompts what others computed. One that got all of it has a row at once.
   *
   * @returns those that wait for more
   */
  #share(): ReadonlySet<Sequence> {
    if (this.#running.prefills.sequences.length === 0) return nonePatient;
    const patient = this.#options.cache.share(this.#running.prefills.sequences, this.live);
    this.#toRows((one) => one.sharedTokens > 0);
    return patient;
  }

  #toRows(test: (sequence: Sequence) => boolean): void {
    for (const sequence of this.#running.prefills.remove(test)) {
      this.#running.decodes.add(sequence);
      // Now it is known how much others had computed.
      this.#waiting.refund(sequence);
    }
  }

  /** Pieces of prompts; their pages were promised. */
  #growPrefills(isDecoding: boolean, patient: ReadonlySet<Sequence>): readonly PrefillPiece[] {
    if (this.#running.prefills.sequences.length === 0) return noPieces;
    const { cache, maxPartialPrefills, longPrefillTokenThreshold } = this.#options;
    const limits = {
      budgetTokens: this.#budget(isDecoding),
      mostSequences: maxPartialPrefills,
      longTokens: longPrefillTokenThreshold,
    };
    const pieces = this.#running.prefills.pieces(limits, patient);
    for (const { sequence, start, tokens } of pieces) cache.grow(sequence, start + tokens);
    return pieces;
  }

  /**
   * While others decode, a chunk of prompts may not keep them waiting for longer than the target.
   */
  #budget(isDecoding: boolean): number {
    const { cache, itlTargetMs, maxBatchedTokens } = this.#options;
    const { pageTokens } = cache;
    const first = this.#running.prefills.sequences[0];
    if (!isDecoding || itlTargetMs === 0 || !first) return maxBatchedTokens;
    const depth = first.computedTokens + 1;
    const tokens = this.#pace.tokensWithin(itlTargetMs, { depth, pageTokens });
    return Math.min(maxBatchedTokens, tokens ?? maxBatchedTokens);
  }

  /** It loses its pages, not its place: it waits as what came when it came. */
  #preempt(victim: Sequence): void {
    this.#running.remove((sequence) => sequence === victim);
    this.#release(victim);
    victim.prefillTokens = victim.knownTokens;
    this.#counts.preemptions += 1;
    this.#headroom.raise();
    this.#trace.preempted(victim);
    this.#waiting.add(victim);
  }

  #release(sequence: Sequence): void {
    this.#options.cache.freeAfter(sequence.lastStep, sequence);
  }
}

const nonePatient: ReadonlySet<Sequence> = new Set();
const noCopies: readonly PageCopy[] = [];

// Tests of a sequence that every decision makes; named here, they are no new functions each time.

function isOver({ state }: Sequence): boolean {
  return state === 'finished';
}

function hasFailed({ outcome }: Sequence): boolean {
  return outcome === 'error';
}

function isComputed({ remainingPrefill }: Sequence): boolean {
  return remainingPrefill === 0;
}
