import type { Sequence } from '../sequence.js';

/** Milliseconds of waiting after which a sequence counts as one priority better. */
const promotionMs = 30_000;
/** A generated token costs as much as so many tokens of a prompt. */
const decodeCost = 4;
/** What a tenant may spend in each round, in prompt tokens. */
const quantum = 256;
/** What a tenant spent while nobody else wanted it weighs no more than this later. */
const mostDebt = 32_768;

/** What one tenant has waiting, and what it may still spend. */
interface Tenant {
  readonly name: string;
  readonly waiting: Sequence[];
  /** Tokens that it may spend; below zero = spent in advance by generating. */
  deficit: number;
  /** It had its quantum of this round. */
  isCredited: boolean;
}

/**
 * Sequences that wait for a place. Tenants take turns by deficit round robin, so one with many requests
 * delays the others by a bounded amount; inside a tenant the lower priority comes first, then the earlier
 * arrival, and every 30 s of waiting count as one priority, so that nothing starves.
 */
export class WaitingQueue {
  readonly #ring: Tenant[] = [];
  #turn = 0;
  #length = 0;
  #tokens = 0;

  get length(): number {
    return this.#length;
  }

  /** Tokens of their prompts. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Those that had a place before and lost it. */
  get preempted(): number {
    const all = this.#ring.flatMap(({ waiting }) => waiting);
    return all.filter(({ admissions }) => admissions > 0).length;
  }

  add(sequence: Sequence): void {
    sequence.state = 'waiting';
    this.#tenantOf(sequence).waiting.push(sequence);
    this.#length += 1;
    this.#tokens += sequence.prompt.length;
  }

  /** The sequence whose turn it is; it keeps its turn until it is taken or gone. */
  head(nowMs: number): Sequence | undefined {
    const tenants = this.#ring.filter(({ waiting }) => waiting.length > 0);
    const [only] = tenants;
    if (tenants.length <= 1) return only && firstOf(only.waiting, nowMs);
    creditUntilOneCanSpend(tenants, nowMs);
    for (let visits = 0; visits <= this.#ring.length; visits += 1) {
      const tenant = this.#ring[this.#turn];
      const first = tenant && firstOf(tenant.waiting, nowMs);
      if (tenant && first) {
        credit(tenant);
        if (tenant.deficit >= costOf(first)) return first;
      }
      this.#pass();
    }
    return undefined;
  }

  /** Takes the sequence out and charges its tenant for the prompt; the second time is free. */
  take(sequence: Sequence): void {
    const tenant = this.#tenantOf(sequence);
    tenant.waiting.splice(tenant.waiting.indexOf(sequence), 1);
    this.#length -= 1;
    this.#tokens -= sequence.prompt.length;
    this.#charge(tenant, costOf(sequence));
  }

  /** Charges the tenant of a sequence that generated a token. */
  chargeToken(sequence: Sequence): void {
    this.#charge(this.#tenantOf(sequence), decodeCost);
  }

  /** Takes out the sequences for which the test holds. */
  remove(test: (sequence: Sequence) => boolean): Sequence[] {
    const removed: Sequence[] = [];
    for (const { waiting } of this.#ring) {
      const kept = waiting.filter((sequence) => {
        if (!test(sequence)) return true;
        removed.push(sequence);
        this.#tokens -= sequence.prompt.length;
        return false;
      });
      if (kept.length < waiting.length) waiting.splice(0, waiting.length, ...kept);
    }
    this.#length -= removed.length;
    return removed;
  }

  /** Forgets tenants that have nothing under way, so that their number stays bounded. */
  forgetIdle(running: readonly Sequence[]): void {
    if (this.#ring.length < 2) return;
    const busy = new Set(running.map(({ tenant }) => tenant));
    for (let index = this.#ring.length - 1; index >= 0; index -= 1) {
      const tenant = this.#ring[index];
      if (!tenant || tenant.waiting.length > 0 || busy.has(tenant.name)) continue;
      this.#ring.splice(index, 1);
      if (index < this.#turn) this.#turn -= 1;
    }
    if (this.#turn >= this.#ring.length) this.#turn = 0;
  }

  #tenantOf({ tenant: name }: Sequence): Tenant {
    const known = this.#ring.find((tenant) => tenant.name === name);
    if (known) return known;
    const made = { name, waiting: [], deficit: 0, isCredited: false };
    this.#ring.push(made);
    return made;
  }

  /** Alone there is nobody to be fair to. */
  #charge(tenant: Tenant, tokens: number): void {
    if (this.#ring.length > 1) tenant.deficit = Math.max(-mostDebt, tenant.deficit - tokens);
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

/** Rounds in which nobody could spend are skipped at once, however dear the cheapest request is. */
function creditUntilOneCanSpend(tenants: readonly Tenant[], nowMs: number): void {
  const rounds = tenants.map(({ waiting, deficit, isCredited }) => {
    const first = firstOf(waiting, nowMs);
    const lacking = (first ? costOf(first) : 0) - deficit;
    return Math.ceil(lacking / quantum) - (isCredited ? 0 : 1);
  });
  const skipped = Math.max(0, Math.min(...rounds));
  for (const tenant of tenants) tenant.deficit += skipped * quantum;
}

function credit(tenant: Tenant): void {
  if (tenant.isCredited) return;
  tenant.isCredited = true;
  tenant.deficit += quantum;
}

function costOf(sequence: Sequence): number {
  return sequence.admissions > 0 ? 0 : sequence.prompt.length;
}

function firstOf(waiting: readonly Sequence[], nowMs: number): Sequence | undefined {
  let first: Sequence | undefined;
  for (const sequence of waiting) {
    if (!first || isBefore(sequence, first, nowMs)) first = sequence;
  }
  return first;
}

function isBefore(one: Sequence, other: Sequence, nowMs: number): boolean {
  const difference = rankOf(one, nowMs) - rankOf(other, nowMs);
  if (difference !== 0) return difference < 0;
  return one.arrivalMs === other.arrivalMs ? one.id < other.id : one.arrivalMs < other.arrivalMs;
}

function rankOf({ priority, arrivalMs }: Sequence, nowMs: number): number {
  return priority - Math.floor(Math.max(0, nowMs - arrivalMs) / promotionMs);
}
