import type { Sequence } from '../sequence.js';
import { joined, matching, nobody } from './seldom-lists.js';

/** Milliseconds of waiting after which a sequence counts as one priority better. */
const promotionMs = 30_000;
/** A generated token costs as much as so many tokens of a prompt. */
const decodeCost = 4;
/** What a tenant may spend in each round, in prompt tokens. */
const quantum = 256;
/** Among so many the one that finds most of its prompt comes first. */
const mostCompared = 32;
/** So many others may come before one for that. */
const mostPasses = 8;
/** What a tenant spent while nobody else wanted it weighs no more than this later. */
const mostDebt = 32_768;

const noTenants: ReadonlySet<string> = new Set();

/** What one tenant has waiting, and what it may still spend. */
interface Tenant {
  readonly name: string;
  /** In order of arrival. */
  readonly waiting: Sequence[];
  /** Tokens that it may spend; below zero = spent in advance by generating. */
  deficit: number;
  /** It had its quantum of this round. */
  isCredited: boolean;
}

/**
 * Sequences that wait for a place. Tenants take turns by deficit round robin, so one with many
 * requests delays the others by a bounded amount; inside a tenant the lower priority comes first,
 * then the earlier arrival, and every 30 s of waiting count as one priority, so that nothing
 * starves. Of equal priorities the one of which most is in the prefix cache comes first, but before
 * nobody more than eight times.
 */
export class WaitingQueue {
  readonly #found: (sequence: Sequence) => number;
  /** What was charged for prompts, of those whose tenants are not alone. */
  readonly #charged = new WeakMap<Sequence, number>();
  readonly #ring: Tenant[] = [];
  #turn = 0;
  #length = 0;
  #tokens = 0;

  /** @param found tokens of a sequence's prompt that need not be computed */
  constructor(found: (sequence: Sequence) => number = () => 0) {
    this.#found = found;
  }

  get length(): number {
    return this.#length;
  }

  /** Tokens of their prompts. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Tokens of their prompts, by tenant; of those that have any. */
  tokensByTenant(): ReadonlyMap<string, number> {
    const busy = this.#ring.filter(({ waiting }) => waiting.length > 0);
    const tokensOf = ({ waiting }: Tenant): number =>
      waiting.reduce((sum, { prompt }) => sum + prompt.length, 0);
    return new Map(busy.map((tenant) => [tenant.name, tokensOf(tenant)]));
  }

  /** How many of a tenant wait. */
  lengthOf(tenant: string): number {
    return this.#ring.find(({ name }) => name === tenant)?.waiting.length ?? 0;
  }

  /** Those that had a place before and lost it. */
  get preempted(): number {
    const all = this.#ring.flatMap(({ waiting }) => waiting);
    return all.filter(({ admissions }) => admissions > 0).length;
  }

  add(sequence: Sequence): void {
    sequence.state = 'waiting';
    const { waiting } = this.#tenantOf(sequence);
    const place = waiting.findLastIndex((other) => cameBefore(other, sequence)) + 1;
    waiting.splice(place, 0, sequence);
    this.#length += 1;
    this.#tokens += sequence.prompt.length;
  }

  /**
   * The sequence whose turn it is; it keeps its turn until it is taken or gone.
   *
   * @param except tenants that are passed over
   */
  head(nowMs: number, except: ReadonlySet<string> = noTenants): Sequence | undefined {
    const mayStart = ({ name, waiting }: Tenant) => waiting.length > 0 && !except.has(name);
    const tenants = this.#ring.filter(mayStart);
    const [only] = tenants;
    if (tenants.length <= 1) return only && this.#firstOf(only, nowMs);
    this.#creditUntilOneCanSpend(tenants, nowMs);
    for (let visits = 0; visits <= this.#ring.length; visits += 1) {
      const tenant = this.#ring[this.#turn];
      const first = tenant && mayStart(tenant) ? this.#firstOf(tenant, nowMs) : undefined;
      if (tenant && first) {
        credit(tenant);
        if (tenant.deficit >= this.#costOf(first)) return first;
      }
      this.#pass();
    }
    return undefined;
  }

  /**
   * Takes the sequence out and charges its tenant for what was not found of the prompt; the second
   * time is free.
   *
   * @param nowMs as it was for `head`
   */
  take(sequence: Sequence, nowMs: number): void {
    const tenant = this.#tenantOf(sequence);
    for (const other of equals(tenant.waiting, nowMs)) {
      if (other === sequence) break;
      other.passedOver += 1;
    }
    tenant.waiting.splice(tenant.waiting.indexOf(sequence), 1);
    this.#length -= 1;
    this.#tokens -= sequence.prompt.length;
    if (sequence.admissions > 0) return;
    const cost = sequence.prompt.length - sequence.cachedTokens;
    if (this.#charge(sequence, cost)) this.#charged.set(sequence, cost);
  }

  /** Gives back what was charged for tokens of a prompt that others computed meanwhile. */
  refund(sequence: Sequence): void {
    const charged = this.#charged.get(sequence);
    if (charged === undefined) return;
    this.#charged.delete(sequence);
    this.#charge(sequence, sequence.prompt.length - sequence.cachedTokens - charged);
  }

  /** Charges the tenant of a sequence that generated a token. */
  chargeToken(sequence: Sequence): void {
    this.#charge(sequence, decodeCost);
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): readonly Sequence[] {
    let removed = nobody;
    for (const { waiting } of this.#ring) {
      const gone = matching(waiting, test);
      if (gone.length === 0) continue;
      const isGone = new Set(gone);
      const kept = waiting.filter((sequence) => !isGone.has(sequence));
      waiting.splice(0, waiting.length, ...kept);
      for (const { prompt } of gone) this.#tokens -= prompt.length;
      removed = joined(removed, gone);
    }
    this.#length -= removed.length;
    return removed;
  }

  /**
   * Forgets tenants that have nothing under way, so that their number stays bounded.
   *
   * @param isBusy whether a sequence of the tenant runs
   */
  forgetIdle(isBusy: (tenant: string) => boolean): void {
    if (this.#ring.length < 2) return;
    for (let index = this.#ring.length - 1; index >= 0; index -= 1) {
      const tenant = this.#ring[index];
      if (!tenant || tenant.waiting.length > 0 || isBusy(tenant.name)) continue;
      this.#ring.splice(index, 1);
      if (index < this.#turn) this.#turn -= 1;
    }
    if (this.#turn >= this.#ring.length) this.#turn = 0;
  }

  #firstOf({ waiting }: Tenant, nowMs: number): Sequence | undefined {
    const [first, ...others] = equals(waiting, nowMs);
    if (!first || others.length === 0) return first;
    let best = first;
    let most = this.#found(first);
    for (const sequence of others) {
      const found = this.#found(sequence);
      if (found <= most) continue;
      best = sequence;
      most = found;
    }
    return best;
  }

  /** In prompt tokens that are to be computed. */
  #costOf(sequence: Sequence): number {
    return sequence.admissions > 0 ? 0 : sequence.prompt.length - this.#found(sequence);
  }

  /**
   * Rounds in which nobody could spend are skipped at once, however dear the cheapest request is.
   */
  #creditUntilOneCanSpend(tenants: readonly Tenant[], nowMs: number): void {
    const rounds = tenants.map((tenant) => {
      const first = this.#firstOf(tenant, nowMs);
      const lacking = (first ? this.#costOf(first) : 0) - tenant.deficit;
      return Math.ceil(lacking / quantum) - (tenant.isCredited ? 0 : 1);
    });
    const skipped = Math.max(0, Math.min(...rounds));
    for (const tenant of tenants) tenant.deficit += skipped * quantum;
  }

  #tenantOf({ tenant: name }: Sequence): Tenant {
    for (const tenant of this.#ring) if (tenant.name === name) return tenant;
    const made = { name, waiting: [], deficit: 0, isCredited: false };
    this.#ring.push(made);
    return made;
  }

  /** Charges its tenant; false if that is alone, since then there is nobody to be fair to. */
  #charge(sequence: Sequence, tokens: number): boolean {
    if (this.#ring.length < 2) return false;
    const tenant = this.#tenantOf(sequence);
    tenant.deficit = Math.max(-mostDebt, tenant.deficit - tokens);
    return true;
  }

  /** Next tenant; what one with nothing waiting did not spend is lost. */
  #pass(): void {
    const tenant = this.#ring[this.#turn];
    if (tenant) {
      tenant.isCredited = false;
      if (tenant.waiting.length === 0) tenant.deficit = Math.min(0, tenant.deficit);
    }
    this.#turn = (this.#turn + 1) % Math.max(1, this.#ring.length);
  }
}

function credit(tenant: Tenant): void {
  if (tenant.isCredited) return;
  tenant.isCredited = true;
  tenant.deficit += quantum;
}

/**
 * Those of the best rank, in order of arrival, as far as they may be compared: nobody is passed
 * over too often, nor if it had a place before.
 */
function equals(waiting: readonly Sequence[], nowMs: number): readonly Sequence[] {
  let best = Number.POSITIVE_INFINITY;
  let all: Sequence[] = [];
  let isClosed = false;
  for (const sequence of waiting) {
    const rank = rankOf(sequence, nowMs);
    if (rank > best || (rank === best && isClosed)) continue;
    if (rank < best) all = [];
    best = rank;
    all.push(sequence);
    const isLast = sequence.passedOver >= mostPasses || sequence.admissions > 0;
    isClosed = isLast || all.length === mostCompared;
  }
  return all;
}

function cameBefore(one: Sequence, other: Sequence): boolean {
  return one.arrivalMs === other.arrivalMs ? one.id < other.id : one.arrivalMs < other.arrivalMs;
}

function rankOf({ priority, arrivalMs }: Sequence, nowMs: number): number {
  return priority - Math.floor(Math.max(0, nowMs - arrivalMs) / promotionMs);
}
