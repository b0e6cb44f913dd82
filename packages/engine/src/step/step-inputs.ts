import { type Device, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelBatch } from '../model.js';
import type { Sequence } from '../sequence.js';
import { PageTable } from './page-table.js';

/** Largest batch that a set of inputs can hold. */
export interface StepCapacity {
  readonly tokens: number;
  readonly sequences: number;
  readonly rows: number;
  /** Pages of the longest sequence. */
  readonly maxPages: number;
}

const columns = ['tokenIds', 'positions', 'sequenceIds', 'slots'] as const;
type Column = (typeof columns)[number];

/**
 * The device tensors of steps that run eagerly, with host arrays beside them. Fill the host arrays,
 * then `upload`.
 */
export class StepInputs {
  /** Host side of the per-token tensors. */
  readonly host: Readonly<Record<Column | 'rows', Int32Array>>;
  readonly #owned: readonly Tensor[];
  // Parts of them are made at each step and forgotten, so they are borrowed.
  readonly #tensors: Readonly<Record<Column | 'rows', Tensor>>;
  readonly #pageTable: PageTable;

  constructor(device: Device, capacity: StepCapacity, label: string) {
    const make = (name: string, length: number): Tensor =>
      Tensor.allocate(device, [length], 'i32', { label: `${label}.${name}` });
    const lengths = {
      tokenIds: capacity.tokens,
      positions: capacity.tokens,
      sequenceIds: capacity.tokens,
      slots: capacity.tokens,
      rows: capacity.rows,
    };
    const names = [...columns, 'rows'] as const;
    const owned = record(names, (name) => make(name, lengths[name]));
    this.#owned = Object.values(owned);
    this.#tensors = record(names, (name) => owned[name].borrow());
    this.host = record(names, (name) => new Int32Array(lengths[name]).fill(-1));
    this.#pageTable = new PageTable(device, capacity, label);
  }

  /** The tensors' first elements, as a model reads them. */
  batch(tokens: number, sequences: number, rows: number): ModelBatch {
    const first = (name: Column | 'rows', length: number): Tensor =>
      this.#tensors[name].slice(0, 0, length);
    return {
      tokenIds: first('tokenIds', tokens),
      positions: first('positions', tokens),
      sequenceIds: first('sequenceIds', tokens),
      slots: first('slots', tokens),
      pageTable: this.#pageTable.rows(sequences),
      rows: first('rows', rows),
    };
  }

  /** Writes one token of the batch into the host arrays. */
  setToken(index: number, sequence: Sequence, sequenceRow: number, position: number): void {
    this.host.tokenIds[index] = sequence.tokenAt(position);
    this.host.positions[index] = position;
    this.host.sequenceIds[index] = sequenceRow;
    this.host.slots[index] = sequence.slotAt(position);
  }

  /** Fills the host arrays with padding: no cache write, no attention, no expert, no logits. */
  pad(tokens: number, rows: number): void {
    this.host.tokenIds.fill(0, 0, tokens);
    this.host.sequenceIds.fill(0, 0, tokens);
    this.host.positions.fill(-1, 0, tokens);
    this.host.slots.fill(-1, 0, tokens);
    this.host.rows.fill(-1, 0, rows);
  }

  /**
   * Enqueues the copies of the host arrays' first elements, and of page-table rows that changed.
   */
  upload(stream: Stream, sequences: readonly Sequence[], tokens: number, rows: number): void {
    for (const name of columns) {
      if (tokens === 0) break;
      stream.write(this.#tensors[name].slice(0, 0, tokens), this.host[name].subarray(0, tokens));
    }
    if (rows > 0) {
      stream.write(this.#tensors.rows.slice(0, 0, rows), this.host.rows.subarray(0, rows));
    }
    this.#pageTable.upload(stream, sequences);
  }

  /** Makes the next upload write every page-table row anew. */
  forget(): void {
    this.#pageTable.forget();
  }

  dispose(): void {
    for (const tensor of this.#owned) tensor.dispose();
    this.#pageTable.dispose();
  }
}

function record<K extends string, V>(keys: readonly K[], value: (key: K) => V): Record<K, V> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, V>;
}
