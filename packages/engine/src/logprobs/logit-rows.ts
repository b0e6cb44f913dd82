import type { Stream, Tensor } from '@altstream/cuda-runtime';
import type { RowRule } from '../grammar/row-rule.js';
import type { RowLogprobs } from '../sampler.js';
import type { Sequence } from '../sequence.js';
import { processedLogprobs } from './processed-logprobs.js';

/** A row that asked for log-probabilities. */
interface AskedRow {
  readonly row: number;
  readonly sequence: Sequence;
  /** f32 [vocab] */
  readonly logits: Float32Array;
}

/**
 * What the tokens of a step are drawn from, in rows that asked for log-probabilities: their logits,
 * on the way to the host. Such a row costs a copy of 4 bytes × vocabulary beside its draw, and
 * some milliseconds of the host when the step is over; other rows cost nothing.
 */
export class LogitRows {
  readonly #sequences: readonly Sequence[];
  #asked: readonly AskedRow[] = [];
  #copied: Promise<unknown> = Promise.resolve();

  constructor(sequences: readonly Sequence[]) {
    this.#sequences = sequences;
  }

  /** Takes `logits` f32 [rows, vocab]; they may change behind the copies that it enqueues. */
  reader(stream: Stream): (logits: Tensor) => void {
    return (logits) => this.#read(logits, stream);
  }

  /**
   * Log-probabilities of the rows that asked. A grammar allows the same ids before penalties and
   * biases as behind them, so its mask comes last here.
   *
   * @param ids the token of each row
   * @returns by row; nothing for a row that has no token
   */
  async logprobs(
    ids: Int32Array,
    rules: readonly RowRule[] = [],
  ): Promise<ReadonlyMap<number, RowLogprobs>> {
    await this.#copied;
    const values = new Map<number, RowLogprobs>();
    for (const { row, sequence, logits } of this.#asked) {
      const [id = -1, rule] = [ids[row], rules[row]];
      if (rule?.end) continue;
      const { logprobs: count = 0, ...drawn } = sequence.parameters;
      values.set(row, processedLogprobs(logits, { ...drawn, mask: rule?.mask, id, count }));
    }
    return values;
  }

  #read(logits: Tensor, stream: Stream): void {
    this.#asked = this.#sequences.flatMap((sequence, row): AskedRow[] => {
      if (sequence.parameters.logprobs === undefined) return [];
      return [{ row, sequence, logits: new Float32Array(logits.shape[1] ?? 0) }];
    });
    this.#copied = Promise.all(
      this.#asked.map(({ row, logits: host }) => stream.read(logits.slice(0, row, row + 1), host)),
    );
    // It is awaited later, or never if the rest of the step cannot be enqueued.
    this.#copied.catch(() => undefined);
  }
}
