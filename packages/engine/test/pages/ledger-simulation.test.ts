import { seededRandom } from '@altstream/cuda-runtime/testing';
import { describe, expect, it } from 'vitest';
import { PagePool } from '../../src/pages/page-pool.js';
import { PrefixCache } from '../../src/pages/prefix-cache.js';
import type { Sequence } from '../../src/sequence.js';
import { makeSequence } from '../makers/sequence.js';

const pageTokens = 4;
const pages = 24;
const events = 20_000;
/** A million take a minute. */
const many = Number(process.env['LEDGER_EVENTS'] ?? 100_000);

/** Sequences over a pool, and what may happen to them, drawn at random. */
class Simulation {
  readonly pool = new PagePool(pages);
  readonly cache = new PrefixCache({ pool: this.pool, pageTokens, isEnabled: true });
  readonly live: Sequence[] = [];
  readonly counts = { preemptions: 0, evictions: 0, shared: 0, copies: 0 };
  /** What the device would have in each slot: the token whose keys and values they are. */
  readonly #memory = new Int32Array(pages * pageTokens).fill(-1);
  readonly #random: ReturnType<typeof seededRandom>;
  #step = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** One event, of which only some are possible now. */
  happen(): void {
    const one = this.live[this.#random.integer(0, Math.max(1, this.live.length))];
    const kind = this.#random.integer(0, 100);
    this.cache.begin();
    if (kind >= 99) this.counts.evictions += this.cache.flush();
    else if (kind >= 88) this.cache.landed(this.#step - this.#random.integer(0, 2));
    else if (kind < 15 || !one) this.#add();
    else if (kind < 78) this.#compute(one);
    else if (kind < 83) this.#end(one, this.#random.integer(0, 9) === 0 ? 'error' : 'abort');
    else this.#preempt(one);
    this.cache.share(this.live);
    this.#step += 1;
  }

  /** Throws unless every sequence finds its own tokens where its page table says. */
  checkContents(): void {
    for (const one of this.live) {
      for (let position = 0; position < one.certainTokens; position += 1) {
        const page = one.pages[Math.floor(position / pageTokens)] ?? -1;
        const found = this.#memory[page * pageTokens + (position % pageTokens)];
        const expected = one.tokenAt(position);
        if (found === expected) continue;
        throw new Error(`sequence ${one.id} finds ${found} at ${position}, expected ${expected}`);
      }
    }
  }

  drain(): void {
    for (const one of [...this.live]) this.#end(one, 'abort');
    this.cache.landed(this.#step);
  }

  #add(): void {
    const salt = this.#random.integer(0, 3) === 0 ? { cacheSalt: 'apart' } : {};
    const wants = this.#random.integer(0, 9) === 0 ? { promptLogprobs: 0 } : {};
    // Few lengths, so that there are twins.
    const promptTokens = this.#random.integer(1, 10) * 5 - this.#random.integer(0, 2);
    const parameters = { ...salt, ...wants };
    const { sequence } = makeSequence({ promptTokens, maxTokens: 30, parameters });
    if (this.cache.admit(sequence, 0)) this.live.push(sequence);
  }

  /** A piece of its prefill, or a token; some steps look ahead to a token that is never wanted. */
  #compute(one: Sequence): void {
    const most = Math.max(1, one.remainingPrefill);
    const tokens = this.#random.integer(1, most + 1);
    if (!this.cache.grow(one, one.computedTokens + tokens)) {
      this.#preempt(one);
      return;
    }
    this.#write(one, tokens);
    one.computedTokens += tokens;
    one.landedTokens += tokens;
    this.cache.publish(one);
    const isComplete = one.remainingPrefill <= 0;
    if (isComplete)
      one.accept({ type: 'token', id: this.#random.integer(0, 3), logprob: 0, top: [] });
    if (one.state === 'finished') this.#leave(one);
  }

  /** A step on the device: copies come first. */
  #write(one: Sequence, tokens: number): void {
    for (const { from, to } of this.cache.takeCopies()) {
      this.counts.copies += 1;
      this.#memory.copyWithin(to * pageTokens, from * pageTokens, (from + 1) * pageTokens);
    }
    if (one.sharedTokens > 0) this.counts.shared += 1;
    const first = one.computedTokens;
    for (let position = first; position < first + tokens; position += 1) {
      const slot = one.slotAt(position);
      if (slot >= 0) this.#memory[slot] = one.tokenAt(position);
    }
  }

  #preempt(one: Sequence): void {
    this.counts.preemptions += 1;
    this.cache.freeAfter(this.#step, one);
    one.prefillTokens = one.knownTokens;
    if (!this.cache.admit(one, 0)) this.live.splice(this.live.indexOf(one), 1);
  }

  #end(one: Sequence, reason: 'abort' | 'error'): void {
    one.finish(reason);
    this.#leave(one);
  }

  #leave(one: Sequence): void {
    this.cache.freeAfter(this.#step, one);
    this.live.splice(this.live.indexOf(one), 1);
  }
}

describe('the page ledger', () => {
  it(`C35: balances over ${many} random events, and nothing is left of them`, () => {
    const simulation = new Simulation(35);
    for (let event = 1; event <= many; event += 1) {
      simulation.happen();
      if (event % 100 === 0) {
        simulation.cache.check(simulation.live);
        simulation.checkContents();
      }
    }
    const { preemptions, evictions, shared, copies } = simulation.counts;
    expect(Math.min(preemptions, evictions, shared, copies)).toBeGreaterThan(many / 1000);
    simulation.drain();
    simulation.cache.check([]);
    simulation.cache.flush();
    expect(simulation.pool.counts()).toMatchObject({ free: pages, pinned: 0, reserved: 0 });
  });

  it.each([1, 2, 3])(`balances after each of ${events} events (seed %i)`, (seed) => {
    const simulation = new Simulation(seed);
    const { cache, pool, live, counts } = simulation;
    for (let event = 0; event < events; event += 1) {
      simulation.happen();
      cache.check(live);
      simulation.checkContents();
    }
    expect(Math.min(counts.preemptions, counts.evictions, cache.counts.hits)).toBeGreaterThan(500);
    // A copy less than twins, if the others have gone by then.
    expect(Math.min(counts.shared, counts.copies, counts.shared - counts.copies)).toBeGreaterThan(
      20,
    );
    simulation.drain();
    cache.check([]);
    expect(pool.counts()).toMatchObject({ pinned: 0, reserved: 0 });
    cache.flush();
    expect([pool.free, pool.index.size]).toEqual([pages, 0]);
  });
});
