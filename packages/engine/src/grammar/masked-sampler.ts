import type { Device, Stream, Tensor } from '@altstream/cuda-runtime';
import { maskLogits } from '@altstream/dense-kernels';
import { Sampler } from '../sampler.js';
import type { Sequence } from '../sequence.js';
import type { LogitChangesShape } from '../step/logit-changes.js';
import type { RowRule } from './row-rule.js';

/** Rows that are masked at once: their copies of the logits are the memory that grammars cost. */
const mostRows = 16;

/** A row with a mask. */
interface MaskedRow {
  readonly row: number;
  readonly sequence: Sequence;
  readonly mask: Int32Array;
}

/** What was drawn; a log-probability that is no number: nothing could be. */
interface Chosen {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

/**
 * Chooses again in the rows of a step whose grammar forbids something. It runs behind the step, on
 * copies of those rows, so a step without grammars pays nothing and the logits stay the model's.
 */
export class MaskedSampler {
  readonly #sampler: Sampler;

  constructor(device: Device, shape: LogitChangesShape, label: string) {
    const rows = Math.min(shape.rows, mostRows);
    this.#sampler = new Sampler(device, { ...shape, rows }, `${label}.grammar`);
  }

  /**
   * @param logits f32 [rows, vocab], a row a sequence
   * @param ids i32 [rows] of what was chosen freely; rows with a mask are replaced
   * @returns the rows with a mask, each with whether it had anything to choose
   */
  async choose(
    { sequences, rules }: { sequences: readonly Sequence[]; rules: readonly RowRule[] },
    { logits, ids }: { logits: Tensor; ids: Int32Array },
    stream: Stream,
  ): Promise<ReadonlyMap<number, boolean>> {
    const rows = sequences.flatMap((sequence, row): MaskedRow[] => {
      const mask = rules[row]?.mask;
      return mask ? [{ row, sequence, mask }] : [];
    });
    const outcome = new Map<number, boolean>();
    for (let first = 0; first < rows.length; first += mostRows) {
      const some = rows.slice(first, first + mostRows);
      const chosen = await this.#sample(some, logits, stream);
      some.forEach(({ row }, index) => {
        ids[row] = chosen.ids[index] ?? -1;
        outcome.set(row, Number.isFinite(chosen.logprobs[index]));
      });
    }
    return outcome;
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#sampler.forget();
  }

  dispose(): void {
    this.#sampler.dispose();
  }

  async #sample(rows: readonly MaskedRow[], logits: Tensor, stream: Stream): Promise<Chosen> {
    const words = rows[0]?.mask.length ?? 0;
    const bits = new Int32Array(rows.length * words);
    rows.forEach(({ mask }, index) => {
      bits.set(mask, index * words);
    });
    const sources = stream.tensor([rows.length], 'i32', 'grammar.sources');
    const mask = stream.tensor([rows.length, words], 'i32', 'grammar.mask');
    stream.write(
      sources,
      Int32Array.from(rows, ({ row }) => row),
    );
    stream.write(mask, bits);
    const masked = maskLogits({ logits, sources, mask }, { stream });
    const sequences = rows.map(({ sequence }) => sequence);
    this.#sampler.upload(stream, sequences, rows.length);
    const { ids, logprobs } = this.#sampler.sample(masked, { stream, allocator: stream });
    const chosen = { ids: new Int32Array(rows.length), logprobs: new Float32Array(rows.length) };
    const read = [stream.read(ids, chosen.ids), stream.read(logprobs, chosen.logprobs)];
    await Promise.all(read).finally(() => {
      for (const tensor of [sources, mask, masked, ids, logprobs]) tensor.dispose();
    });
    return chosen;
  }
}
