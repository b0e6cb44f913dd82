import { type Device, type Stream, Tensor, type TensorAllocator } from '@altstream/cuda-runtime';
import { type AdjustLogitsInput, adjustLogits, restoreLogits } from '@altstream/dense-kernels';
import { LedgerError } from '../errors/index.js';
import type { SettledParameters } from '../generation-parameters.js';
import type { Sequence } from '../sequence.js';
import type { DeviceDraws } from './device-draws.js';

const floatColumns = ['repetition', 'frequency', 'presence'] as const;

/** Flags of a row, as `adjustLogits` reads them. */
const flagOf = { penalties: 1, entries: 2 };
const always = 2 ** 31 - 1;

/** Largest batch and longest list that a set of changes can hold. */
export interface LogitChangesShape {
  readonly rows: number;
  readonly vocab: number;
  /** Biases and stop tokens of a row. */
  readonly entries: number;
}

/**
 * Penalties, biases and stop tokens that come too early, of each row, as device tensors at fixed
 * addresses. Tokens of a row are counted on the device as they are drawn, so a step waits for no
 * count; a sequence that comes to a row brings its counts along, made from its tokens.
 */
export class LogitChanges {
  readonly #vocab: number;
  readonly #owned: Tensor[] = [];
  // Rows of them are made at each step and forgotten, so they are borrowed.
  readonly #tensors: Record<string, Tensor>;
  readonly #flags: Int32Array;
  readonly #floats: Record<(typeof floatColumns)[number], Float32Array>;
  readonly #list: { ids: Int32Array; values: Float32Array; until: Int32Array };
  /** Sequence whose list is in each row. */
  readonly #listed: number[] = [];
  /** Sequence whose counts are in each row, up to which position. */
  readonly #counted: ({ id: number; position: number } | undefined)[] = [];

  constructor(device: Device, { rows, vocab, entries }: LogitChangesShape, label: string) {
    const make = (name: string, dtype: 'f32' | 'i32', width?: number): [string, Tensor] => {
      const shape = width === undefined ? [rows] : [rows, width];
      const tensor = Tensor.allocate(device, shape, dtype, { label: `${label}.${name}` });
      this.#owned.push(tensor);
      return [name, tensor.borrow()];
    };
    this.#vocab = vocab;
    this.#tensors = Object.fromEntries([
      make('flags', 'i32'),
      ...floatColumns.map((name) => make(name, 'f32')),
      make('counts', 'i32', vocab),
      make('entryIds', 'i32', entries),
      make('entryValues', 'f32', entries),
      make('entryUntil', 'i32', entries),
    ]);
    this.#flags = new Int32Array(rows);
    this.#floats = {
      repetition: new Float32Array(rows).fill(1),
      frequency: new Float32Array(rows),
      presence: new Float32Array(rows),
    };
    this.#list = {
      ids: new Int32Array(entries),
      values: new Float32Array(entries),
      until: new Int32Array(entries),
    };
  }

  /**
   * Enqueues what each row needs when its sequence is new; padding rows up to `count` change
   * nothing.
   */
  uploadParameters(stream: Stream, sequences: readonly Sequence[], count: number): void {
    this.#flags.fill(0, 0, count);
    sequences.forEach((sequence, row) => {
      const { parameters } = sequence;
      this.#flags[row] = flagsOf(parameters);
      this.#floats.repetition[row] = parameters.repetitionPenalty;
      this.#floats.frequency[row] = parameters.frequencyPenalty;
      this.#floats.presence[row] = parameters.presencePenalty;
      if (flagsOf(parameters) & flagOf.entries) this.#writeList(stream, sequence, row);
    });
    const write = (name: string, values: Int32Array | Float32Array): void => {
      stream.write(this.#tensor(name).slice(0, 0, count), values.subarray(0, count));
    };
    write('flags', this.#flags);
    for (const name of floatColumns) write(name, this.#floats[name]);
  }

  /**
   * Enqueues the counts of rows whose sequence is new there, or was elsewhere meanwhile. Those that
   * only the device knows are copied, in ascending order, as rows move to lower places only.
   *
   * @param positions of the tokens to be drawn
   * @param elsewhere counts of another runner
   */
  uploadCounts(
    stream: Stream,
    sequences: readonly Sequence[],
    { positions, elsewhere }: { positions: Int32Array; elsewhere?: DeviceDraws | undefined },
  ): void {
    sequences.forEach((sequence, row) => {
      if ((flagsOf(sequence.parameters) & flagOf.penalties) === 0) return;
      const { id } = sequence;
      const position = positions[row] ?? 0;
      const known = this.#counted[row];
      if (known?.id !== id || known.position !== position) {
        const place = this.#tensor('counts').slice(0, row, row + 1);
        if (position <= sequence.knownTokens) {
          stream.write(place, countsOf(sequence, position, this.#vocab));
        } else {
          const source = this.countsBelow(id, position) ?? elsewhere?.countsBelow(id, position);
          if (!source) throw new LedgerError(`the tokens of row ${row} are counted nowhere`);
          stream.copy(place, source);
        }
      }
      // The step counts the token that it draws.
      this.#counted[row] = { id, position: position + 1 };
    });
  }

  /** i32 [1, vocab]: what a sequence's tokens below a position count, if a row has that. */
  countsBelow(id: number, position: number): Tensor | undefined {
    const row = this.#counted.findIndex((one) => one?.id === id && one.position === position);
    return row < 0 ? undefined : this.#tensor('counts').slice(0, row, row + 1);
  }

  /**
   * Enqueues the changes around a draw, and undoes them after it.
   *
   * @param logits f32 [rows, vocab]
   * @param draw gives ids i32 [rows] and their log-probabilities f32 [rows], which become those of
   * the logits as they were
   */
  around<T extends { readonly ids: Tensor; readonly logprobs: Tensor }>(
    logits: Tensor,
    options: { positions: Tensor; stream: Stream; allocator: TensorAllocator },
    draw: () => T,
  ): T {
    const { positions, ...places } = options;
    const rows = logits.shape[0] ?? 0;
    const raw = options.allocator.tensor([rows, this.#vocab], 'f32', 'raw logits');
    const column = (name: string): Tensor => this.#tensor(name).slice(0, 0, rows);
    const changes: AdjustLogitsInput = {
      logits,
      raw,
      positions,
      flags: column('flags'),
      counts: column('counts'),
      repetition: column('repetition'),
      frequency: column('frequency'),
      presence: column('presence'),
      entryIds: column('entryIds'),
      entryValues: column('entryValues'),
      entryUntil: column('entryUntil'),
    };
    adjustLogits(changes, places);
    const drawn = draw();
    restoreLogits({ ...changes, ids: drawn.ids, logprobs: drawn.logprobs }, places);
    raw.dispose();
    return drawn;
  }

  /** Makes the next upload write the counts of these rows anew. */
  recount(rows: Iterable<number>): void {
    for (const row of rows) delete this.#counted[row];
  }

  /** Makes the next uploads write every row anew. */
  forget(): void {
    this.#listed.length = 0;
    this.#counted.length = 0;
  }

  dispose(): void {
    for (const tensor of this.#owned) tensor.dispose();
  }

  #writeList(stream: Stream, sequence: Sequence, row: number): void {
    if (this.#listed[row] === sequence.id) return;
    this.#listed[row] = sequence.id;
    const { ids, values, until } = this.#list;
    ids.fill(-1);
    entriesOf(sequence).forEach((entry, place) => {
      ids[place] = entry.id;
      values[place] = entry.value;
      until[place] = entry.until;
    });
    const write = (name: string, list: Int32Array | Float32Array): void => {
      stream.write(this.#tensor(name).slice(0, row, row + 1), list);
    };
    write('entryIds', ids);
    write('entryValues', values);
    write('entryUntil', until);
  }

  #tensor(name: string): Tensor {
    const tensor = this.#tensors[name];
    if (!tensor) throw new Error(`there is no tensor ${name}`);
    return tensor;
  }
}

/** Whether the logits of a sequence are changed before its tokens are drawn. */
export function changesLogits({ parameters }: Sequence): boolean {
  return flagsOf(parameters) !== 0;
}

function flagsOf(parameters: SettledParameters): number {
  const { repetitionPenalty, frequencyPenalty, presencePenalty } = parameters;
  const { logitBias, minTokens, stopTokenIds } = parameters;
  const hasPenalties = repetitionPenalty !== 1 || frequencyPenalty !== 0 || presencePenalty !== 0;
  const hasEntries = logitBias.size > 0 || (minTokens > 0 && stopTokenIds.size > 0);
  return (hasPenalties ? flagOf.penalties : 0) | (hasEntries ? flagOf.entries : 0);
}

/** Biases for good, stop tokens until there are enough tokens. */
function entriesOf({ prompt, parameters }: Sequence) {
  const { logitBias, minTokens, stopTokenIds } = parameters;
  const until = Math.min(prompt.length + minTokens, always);
  const bans = minTokens > 0 ? [...stopTokenIds] : [];
  return [
    ...[...logitBias].map(([id, value]) => ({ id, value, until: always })),
    ...bans.map((id) => ({ id, value: Number.NEGATIVE_INFINITY, until })),
  ];
}

/** i32 [vocab]: 2 × times generated before the position, + 1 if the prompt has the id. */
function countsOf({ prompt, generated }: Sequence, position: number, vocab: number): Int32Array {
  const counts = new Int32Array(vocab);
  for (const id of prompt) counts[id] = 1;
  for (const id of generated.slice(0, position - prompt.length)) {
    counts[id] = (counts[id] ?? 0) + 2;
  }
  return counts;
}
