/**
 * Tensor parallelism in one process: every rank's pass is repeated until all of its sums are known.
 */

import { type Stream, Tensor } from '@altstream/cuda-runtime';
import type { Communicator } from '../../src/communicator.js';
import type { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import { worst } from './golden.js';
import { type RunOptions, Session } from './session.js';

/** One sum over ranks: what this rank adds, and what comes out. */
interface Sum {
  readonly part: Tensor;
  readonly total: Tensor;
}

/**
 * A communicator that keeps this rank's part of every sum and puts in its place what the test wrote
 * as the total. While a total is not known, what follows is garbage and is computed again. It only
 * copies between tensors of its own, so a captured pass can be repeated by replaying it.
 */
export class RepeatingCommunicator implements Communicator {
  readonly #sums = new Map<string, Sum>();
  #pass: Sum[] = [];

  /** The sums of the last pass that was enqueued or captured, in order. */
  get sums(): readonly Sum[] {
    return this.#pass;
  }

  /** Begins a pass. */
  begin(): void {
    this.#pass = [];
  }

  allReduce(tensor: Tensor, stream: Stream): void {
    const { device, shape, dtype } = tensor;
    const key = `${this.#pass.length}: ${dtype} ${shape}`;
    let sum = this.#sums.get(key);
    if (!sum) {
      const make = () => Tensor.allocate(device, shape, dtype, { stream });
      sum = { part: make(), total: make() };
      stream.fill(sum.total, 0);
      this.#sums.set(key, sum);
    }
    this.#pass.push(sum);
    stream.copy(sum.part, tensor);
    stream.copy(tensor, sum.total);
  }
}

/** One rank. */
export interface Rank {
  readonly model: MiniMaxM3Model;
  readonly communicator: RepeatingCommunicator;
}

/** The ranks of a group, each with a sequence of its own. */
export class RankGroup {
  readonly sessions: readonly Session[];
  readonly #ranks: readonly Rank[];

  constructor(ranks: readonly Rank[], maxTokens: number) {
    this.#ranks = ranks;
    this.sessions = ranks.map(({ model }) => new Session(model, 1, maxTokens));
  }

  /** Logits of tokens that follow `before` others, on every rank. */
  async run(
    before: number,
    tokens: readonly number[],
    optionsOf: (rank: number) => RunOptions = () => ({}),
  ) {
    return this.#settle(before, async (session, rank) => {
      this.#ranks[rank]?.communicator.begin();
      const [rows = []] = await session.run([{ sequence: 0, tokens }], optionsOf(rank));
      return rows;
    });
  }

  /**
   * The same token again, from a captured pass of each rank: the totals that `run` found stay as
   * they are, and the parts of the replayed passes must add up to them, bit for bit.
   */
  async replay(before: number, token: number) {
    const results: Float32Array[][] = [];
    for (const [rank, session] of this.sessions.entries()) {
      this.#ranks[rank]?.communicator.begin();
      const { replay } = await session.capture(1);
      session.rewind(before);
      results.push(...(await replay([{ sequence: 0, tokens: [token] }])));
    }
    const sums = this.#ranks.map(({ communicator }) => communicator.sums);
    let largestError = 0;
    for (const [i, { total }] of (sums[0] ?? []).entries()) {
      const added = await addUp(sums.flatMap((ofRank) => ofRank[i] ?? []));
      largestError = Math.max(largestError, worst(await read(total), added));
    }
    return { results, sums: sums[0]?.length ?? 0, largestError };
  }

  /**
   * Repeats a pass over tokens that follow `before` others, until every sum is known.
   *
   * @returns what the last pass of each rank gave, and the number of sums in it
   */
  async #settle<T>(before: number, pass: (session: Session, rank: number) => Promise<T>) {
    for (let known = 0; ; known++) {
      const results: T[] = [];
      for (const [rank, session] of this.sessions.entries()) {
        session.rewind(before);
        results.push(await pass(session, rank));
      }
      const sums = this.#ranks.map(({ communicator }) => communicator.sums);
      const counts = new Set(sums.map(({ length }) => length));
      if (counts.size > 1) throw new Error(`ranks ask for ${[...counts].join(' or ')} sums`);
      const next = sums.flatMap((ofRank) => ofRank[known] ?? []);
      if (next.length === 0) return { results, sums: known };
      const values = await addUp(next);
      for (const { total } of next) {
        const stream = total.device.runtime.currentStream();
        stream.write(total, values);
        await stream.synchronize();
      }
    }
  }
}

async function addUp(sums: readonly Sum[]): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  for (const { part } of sums) parts.push(await read(part));
  const [first = new Float32Array(), ...others] = parts;
  return first.map((value, i) => others.reduce((acc, part) => acc + (part[i] ?? 0), value));
}

async function read(tensor: Tensor): Promise<Float32Array> {
  const values = new Float32Array(tensor.elements);
  await tensor.device.runtime.currentStream().read(tensor, values);
  return values;
}
