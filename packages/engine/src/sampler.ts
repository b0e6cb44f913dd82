import { type Device, type Stream, Tensor, type TensorAllocator } from '@altstream/cuda-runtime';
import { sample, topLogprobs } from '@altstream/dense-kernels';
import type { TokenLogprob } from './generation-event.js';
import type { Sequence } from './sequence.js';
import type { DeviceDraws } from './step/device-draws.js';
import { changesLogits, LogitChanges, type LogitChangesShape } from './step/logit-changes.js';

/** What sampling a batch of rows enqueued: ids i32 [rows], logprobs f32 [rows]. */
export interface Sampled {
  readonly ids: Tensor;
  readonly logprobs: Tensor;
}

/** A token's log-probability and the best alternatives. */
export interface RowLogprobs {
  readonly logprob: number;
  readonly top: readonly TokenLogprob[];
}

const floatColumns = ['temperature', 'topP', 'minP'] as const;
const integerColumns = ['topK', 'positions'] as const;

/** Which tokens are drawn. */
export interface DrawnRows {
  /** Of the launch, with padding. */
  readonly rows: number;
  /** Of each sequence's token. */
  readonly positions: Int32Array;
  /** What another runner drew. */
  readonly elsewhere?: DeviceDraws | undefined;
}

/** Where a sampler's launches go. */
export interface SamplerOptions {
  readonly stream: Stream;
  readonly allocator: TensorAllocator;
  /** i32 [rows], instead of those that `upload` sends: who else writes them. */
  readonly positions?: Tensor;
  /** Instead of new tensors. */
  readonly out?: Sampled;
  /** Called when the logits are what the draw reads: rows are changed, and not yet restored. */
  readonly onLogits?: ((logits: Tensor) => void) | undefined;
}

/**
 * Sampling parameters of each row as device tensors at fixed addresses, and the launches that use
 * them. Padding rows have position −1 and sample nothing.
 */
export class Sampler {
  readonly #floats: Record<(typeof floatColumns)[number], Float32Array>;
  readonly #integers: Record<(typeof integerColumns)[number], Int32Array>;
  readonly #seeds: BigInt64Array;
  readonly #owned: Tensor[] = [];
  // First rows of them are made at each step and forgotten, so they are borrowed.
  readonly #tensors: Record<string, Tensor>;
  readonly #changes: LogitChanges;
  /**
   * Sequences, in order, whose parameters are on the device; 0 = none, −1 = a row of padding. Only
   * positions change every step.
   */
  readonly #uploaded: Float64Array;
  #hasChanges = false;

  constructor(device: Device, shape: LogitChangesShape, label: string) {
    const { rows } = shape;
    this.#floats = {
      temperature: new Float32Array(rows),
      topP: new Float32Array(rows).fill(1),
      minP: new Float32Array(rows),
    };
    this.#integers = { topK: new Int32Array(rows), positions: new Int32Array(rows).fill(-1) };
    this.#seeds = new BigInt64Array(rows);
    this.#uploaded = new Float64Array(rows);
    const make = (name: string, dtype: 'f32' | 'i32' | 'i64'): [string, Tensor] => {
      const tensor = Tensor.allocate(device, [rows], dtype, { label: `${label}.${name}` });
      this.#owned.push(tensor);
      return [name, tensor.borrow()];
    };
    this.#tensors = Object.fromEntries([
      ...floatColumns.map((name) => make(name, 'f32')),
      ...integerColumns.map((name) => make(name, 'i32')),
      make('seeds', 'i64'),
    ]);
    this.#changes = new LogitChanges(device, shape, label);
  }

  /** Whether logits of a row that was uploaded last are changed before a draw. */
  get hasChanges(): boolean {
    return this.#hasChanges;
  }

  /** Enqueues the parameters of the sequences, one a row; rows up to `rows` are padding. */
  upload(stream: Stream, sequences: readonly Sequence[], rows: number): void {
    if (rows === 0) return;
    const { positions } = this.#integers;
    sequences.forEach(({ prompt, generated }, row) => {
      positions[row] = prompt.length + generated.length;
    });
    positions.fill(-1, sequences.length, rows);
    this.#write(stream, 'positions', positions, rows);
    this.uploadParameters(stream, sequences, { positions, rows });
  }

  /**
   * The same without positions: nothing, as long as the sequences stay in their rows.
   *
   * @param drawn positions of the tokens to be drawn; counts of another runner, for sequences whose
   * last token is not known yet
   */
  uploadParameters(stream: Stream, sequences: readonly Sequence[], drawn: DrawnRows): void {
    const { rows } = drawn;
    this.#hasChanges = sequences.some(changesLogits);
    if (this.#hasChanges) this.#changes.uploadCounts(stream, sequences, drawn);
    if (!this.#note(sequences, rows)) return;
    sequences.forEach((sequence, row) => {
      this.#setRow(row, sequence);
    });
    for (const name of floatColumns) this.#write(stream, name, this.#floats[name], rows);
    this.#write(stream, 'topK', this.#integers.topK, rows);
    this.#write(stream, 'seeds', this.#seeds, rows);
    this.#changes.uploadParameters(stream, sequences, rows);
  }

  /** Other ids than those drawn were taken in these rows: their counts are written anew. */
  recount(rows: Iterable<number>): void {
    this.#changes.recount(rows);
  }

  /** Makes the next upload write every column anew. */
  forget(): void {
    this.#uploaded.fill(0);
    this.#changes.forget();
  }

  /** i32 [1, vocab]: what a sequence's tokens below a position count, if a row has that. */
  countsBelow(id: number, position: number): Tensor | undefined {
    return this.#changes.countsBelow(id, position);
  }

  /** As the rows that were uploaded last need it: with changes, or without. */
  sample(logits: Tensor, options: SamplerOptions): Sampled {
    return this.#hasChanges ? this.drawChanged(logits, options) : this.draw(logits, options);
  }

  /** Enqueues the choice of one token a row of `logits` f32 [rows, vocab]; may be captured. */
  draw(logits: Tensor, options: SamplerOptions): Sampled {
    options.onLogits?.(logits);
    return sample(this.#input(logits, options), options);
  }

  /**
   * The same from changed logits, in rows that change them. The logits are as before when it is
   * done.
   */
  drawChanged(logits: Tensor, options: SamplerOptions): Sampled {
    const input = this.#input(logits, options);
    const { positions } = input;
    return this.#changes.around(logits, { ...options, positions }, () => {
      options.onLogits?.(logits);
      return sample(input, options);
    });
  }

  dispose(): void {
    for (const tensor of this.#owned) tensor.dispose();
    this.#changes.dispose();
  }

  #input(logits: Tensor, { positions }: SamplerOptions) {
    const rows = logits.shape[0] ?? 0;
    const column = (name: string): Tensor => {
      const tensor = this.#tensors[name];
      if (!tensor) throw new Error(`the sampler has no column ${name}`);
      return tensor.slice(0, 0, rows);
    };
    return {
      logits,
      temperature: column('temperature'),
      topK: column('topK'),
      topP: column('topP'),
      minP: column('minP'),
      seeds: column('seeds'),
      positions: positions ?? column('positions'),
    };
  }

  /** @returns whether other parameters are on the device */
  #note(sequences: readonly Sequence[], rows: number): boolean {
    let isNew = false;
    for (let row = 0; row < rows; row += 1) {
      const id = sequences[row]?.id ?? -1;
      if (this.#uploaded[row] === id) continue;
      this.#uploaded[row] = id;
      isNew = true;
    }
    return isNew;
  }

  #setRow(row: number, { parameters }: Sequence): void {
    this.#floats.temperature[row] = parameters.temperature;
    this.#floats.topP[row] = parameters.topP;
    this.#floats.minP[row] = parameters.minP;
    this.#integers.topK[row] = parameters.topK;
    this.#seeds[row] = parameters.seed;
  }

  #write(
    stream: Stream,
    name: string,
    values: Float32Array | Int32Array | BigInt64Array,
    rows: number,
  ): void {
    const tensor = this.#tensors[name];
    if (tensor) stream.write(tensor.slice(0, 0, rows), values.subarray(0, rows));
  }
}

/**
 * Log-probabilities of given ids and of the best alternatives of each row.
 *
 * @param logits f32 [rows, vocab]
 * @param ids i32 [rows]
 */
export async function readLogprobs(
  input: { logits: Tensor; ids: Tensor; count: number },
  options: { stream: Stream; allocator: TensorAllocator },
): Promise<RowLogprobs[]> {
  const rows = input.logits.shape[0] ?? 0;
  if (rows === 0) return [];
  const { stream } = options;
  // A count of 0 still wants the chosen token's own logprob; the kernel gives at least one column.
  const width = Math.max(1, input.count);
  const result = topLogprobs({ ...input, count: width }, options);
  const chosen = new Float32Array(rows);
  const ids = new Int32Array(rows * width);
  const logprobs = new Float32Array(rows * width);
  await Promise.all([
    stream.read(result.chosen, chosen),
    stream.read(result.ids, ids),
    stream.read(result.logprobs, logprobs),
  ]).finally(() => {
    for (const tensor of [result.chosen, result.ids, result.logprobs]) tensor.dispose();
  });
  return Array.from(chosen, (logprob, row) => ({
    logprob,
    top: Array.from({ length: input.count }, (_, column) => ({
      id: ids[row * width + column] ?? -1,
      logprob: logprobs[row * width + column] ?? Number.NaN,
    })),
  }));
}
