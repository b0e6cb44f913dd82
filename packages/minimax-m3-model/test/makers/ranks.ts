/** Tensor parallelism in one process: every rank's pass is repeated until all of its sums are known. */

import { type Stream, Tensor } from '@altstream/cuda-runtime';
import type { Communicator } from '../../src/communicator.js';
import type { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import { Session } from './session.js';

/**
 * A communicator that knows the first sums from earlier passes, keeps this rank's part of the next
 * one, and leaves the rest alone: what follows is garbage and is computed again.
 */
export class RepeatingCommunicator implements Communicator {
  #known: readonly Float32Array[] = [];
  #calls = 0;
  #part: Tensor | undefined;

  /** Sums asked for in the pass. */
  get calls(): number {
    return this.#calls;
  }

  /** Begins a pass that knows these sums. */
  begin(known: readonly Float32Array[]): void {
    this.#known = known;
    this.#calls = 0;
    this.#part = undefined;
  }

  /** This rank's part of the first unknown sum. */
  async part(): Promise<Float32Array | undefined> {
    const part = this.#part;
    if (!part) return undefined;
    const values = new Float32Array(part.elements);
    await part.device.runtime.currentStream().read(part, values);
    return values;
  }

  allReduce(tensor: Tensor, stream: Stream): void {
    const call = this.#calls++;
    const known = this.#known[call];
    if (known) stream.write(tensor, known);
    else if (call === this.#known.length) {
      const { device, shape, dtype } = tensor;
      this.#part = Tensor.allocate(device, shape, dtype, { stream });
      stream.copy(this.#part, tensor);
    }
  }
}

/** One rank. */
export interface Rank {
  readonly model: MiniMaxM3Model;
  readonly communicator: RepeatingCommunicator;
}

/** Logits of every token on every rank; they must agree. */
export async function runRanks(ranks: readonly Rank[], tokens: readonly number[]) {
  const sessions = ranks.map(({ model }) => new Session(model, 1, tokens.length));
  const known: Float32Array[] = [];
  for (;;) {
    const logits: Float32Array[][] = [];
    const parts: Float32Array[] = [];
    for (const [rank, { communicator }] of ranks.entries()) {
      communicator.begin(known);
      sessions[rank]?.reset();
      const [rows = []] = (await sessions[rank]?.run([{ sequence: 0, tokens }])) ?? [];
      logits.push(rows);
      const part = await communicator.part();
      if (part) parts.push(part);
    }
    if (parts.length === 0) return { logits, sums: known.length };
    const [first = new Float32Array(), ...others] = parts;
    known.push(first.map((value, i) => others.reduce((sum, part) => sum + (part[i] ?? 0), value)));
  }
}
