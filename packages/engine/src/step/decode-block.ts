import { type Device, type HostBuffer, type Stream, Tensor } from '@altstream/cuda-runtime';
import { LedgerError } from '../errors/index.js';
import type { ModelBatch } from '../model.js';
import type { Sequence } from '../sequence.js';
import { CopyRuns } from './copy-runs.js';
import type { DeviceDraws } from './device-draws.js';
import { PageTable } from './page-table.js';

/** What changes with every step, and where in the block it is. */
const placeOf = { positions: 0, slots: 1, samplePositions: 2 };
const columns = Object.keys(placeOf).length;

/** The numbers of one step in pinned memory, with views of them. */
interface Side {
  readonly inputs: HostBuffer;
  readonly view: Int32Array;
  readonly outputs: HostBuffer;
  readonly drawn: StepOutputs;
  /** Gives them; made once, and not at each step. */
  readonly give: () => StepOutputs;
}

/**
 * What a step chose, and behind it rows that it did not have; valid until the side is in use again.
 */
export interface StepOutputs {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
}

/**
 * Inputs and outputs of decode steps at fixed addresses. The numbers that change lie in pinned
 * memory, on two sides when a step is set while the one before runs. A sampled id is written where
 * the next step reads its token, so it is never sent.
 */
export class DecodeBlock {
  readonly #maxRows: number;
  readonly #pageTable: PageTable;
  readonly #owned: readonly Tensor[];
  // Parts of these are made at each step and forgotten, so they are borrowed.
  /** Row r reads row r of the page table, and its logits are wanted. */
  readonly #identity: Tensor;
  readonly #inputs: Tensor;
  /** Ids, then logprobs. */
  readonly #outputs: Tensor;
  readonly #sides: readonly Side[];
  #turn = 0;
  /** Sequence (0 = none) and position of each row whose next token is on the device. */
  readonly #fed: { readonly ids: Float64Array; readonly positions: Int32Array };

  constructor(
    device: Device,
    { maxRows, maxPages, sides }: { maxRows: number; maxPages: number; sides: number },
  ) {
    const make = (name: string, shape: readonly number[]): Tensor =>
      Tensor.allocate(device, shape, 'i32', { label: `decode.${name}` });
    this.#maxRows = maxRows;
    this.#fed = { ids: new Float64Array(maxRows), positions: new Int32Array(maxRows) };
    this.#pageTable = new PageTable(device, { sequences: maxRows, maxPages }, 'decode');
    const identity = make('rows', [maxRows]);
    const inputs = make('inputs', [columns, maxRows]);
    const outputs = make('outputs', [2, maxRows]);
    this.#owned = [identity, inputs, outputs];
    this.#identity = identity.borrow();
    this.#inputs = inputs.borrow();
    this.#outputs = outputs.borrow();
    this.#sides = Array.from({ length: sides }, () => {
      const inputs = device.allocHostSync(this.#inputs.bytes);
      const view = new Int32Array(inputs.buffer).fill(-1);
      const outputs = device.allocHostSync(this.#outputs.bytes);
      const { buffer, bytes } = outputs;
      const ids = new Int32Array(buffer, 0, maxRows);
      const drawn = { ids, logprobs: new Float32Array(buffer, bytes / 2, maxRows) };
      return { inputs, view, outputs, drawn, give: () => drawn };
    });
  }

  /** Enqueues what never changes. */
  prepare(stream: Stream): void {
    stream.write(
      this.#identity,
      Int32Array.from({ length: this.#maxRows }, (_, row) => row),
    );
    stream.fill(this.#outputs, 0);
  }

  /** The first rows, as a model reads them. */
  batch(rows: number): ModelBatch {
    const identity = this.#identity.slice(0, 0, rows);
    return {
      tokenIds: this.ids(rows),
      positions: this.#column('positions', rows),
      sequenceIds: identity,
      slots: this.#column('slots', rows),
      pageTable: this.#pageTable.rows(rows),
      rows: identity,
    };
  }

  /** i32 [rows]: the token that each row reads, and then the one that it chose. */
  ids(rows: number): Tensor {
    return Tensor.of(this.#outputs, [rows], 'i32');
  }

  /** f32 [rows] */
  logprobs(rows: number): Tensor {
    const layout = { byteOffset: this.#outputs.bytes / 2 };
    return Tensor.of(this.#outputs, [rows], 'f32', layout);
  }

  /** i32 [rows]: counters of the random numbers; −1 = padding. */
  samplePositions(rows: number): Tensor {
    return this.#column('samplePositions', rows);
  }

  /**
   * Fills the pinned inputs of the next side for sequences whose last computed token this step
   * computes, and padding up to `rows`. Enqueues only what a step cannot know itself: new
   * page-table rows, and tokens of rows whose sequence changed.
   *
   * @param elsewhere tokens that another runner drew
   * @returns whether the tokens were in place already
   */
  set(
    stream: Stream,
    sequences: readonly Sequence[],
    drawn: { readonly rows: number; readonly elsewhere?: DeviceDraws | undefined },
  ): boolean {
    this.#turn = (this.#turn + 1) % this.#sides.length;
    const { view } = this.#side;
    const width = this.#maxRows;
    view.fill(-1);
    for (let row = 0; row < sequences.length; row += 1) {
      const sequence = sequences[row];
      if (!sequence) continue;
      const { computedTokens } = sequence;
      view[placeOf.positions * width + row] = computedTokens - 1;
      view[placeOf.slots * width + row] = sequence.slotAt(computedTokens - 1);
      view[placeOf.samplePositions * width + row] = computedTokens;
    }
    this.#pageTable.upload(stream, sequences);
    const isFed = this.#feed(stream, sequences, drawn);
    this.#note(sequences);
    return isFed;
  }

  /** Enqueues the copy of the pinned inputs; the first operation of a step. */
  send(stream: Stream): void {
    stream.copy(this.#inputs, this.#side.inputs);
  }

  /** Enqueues the copy of ids and logprobs to pinned memory; the last operation of a step. */
  fetch(stream: Stream): void {
    stream.copy(this.#side.outputs, this.#outputs);
  }

  /** What the step that was set last chooses for its sequences, when it is over. */
  get outputs(): StepOutputs {
    return this.#side.drawn;
  }

  /** The same, when the step is over: behind `done`. */
  outputsBehind(done: Promise<void>): Promise<StepOutputs> {
    return done.then(this.#side.give);
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#fed.ids.fill(0);
    this.#pageTable.forget();
  }

  dispose(): void {
    this.#pageTable.dispose();
    for (const tensor of this.#owned) tensor.dispose();
    for (const { inputs, outputs } of this.#sides) {
      inputs.dispose();
      outputs.dispose();
    }
  }

  get #side(): Side {
    const side = this.#sides[this.#turn];
    if (!side) throw new Error(`the block has no side ${this.#turn}`);
    return side;
  }

  /**
   * Brings every row's token to its place. One that only the device knows is copied there from the
   * row that it was drawn in. Rows move to lower places only, so in ascending order none is
   * overwritten before it is read.
   */
  #feed(
    stream: Stream,
    sequences: readonly Sequence[],
    { rows, elsewhere }: { readonly rows: number; readonly elsewhere?: DeviceDraws | undefined },
  ): boolean {
    if (this.#areInPlace(sequences)) return true;
    const moved = sequences.flatMap((sequence, row) => {
      if (this.#isInPlace(sequence, row)) return [];
      return [{ sequence, row, position: sequence.computedTokens - 1 }];
    });
    if (sequences.every(({ knownTokens, computedTokens }) => computedTokens <= knownTokens)) {
      const tokens = sequences.map((sequence) => sequence.tokenAt(sequence.computedTokens - 1));
      const ids = Int32Array.from({ length: rows }, (_, row) => tokens[row] ?? 0);
      stream.write(this.ids(rows), ids);
      return false;
    }
    const runs = new CopyRuns(stream, (row, length) => this.#idsFrom(row, length));
    for (const { sequence, row, position } of moved) {
      if (position < sequence.knownTokens) {
        stream.write(this.#idsFrom(row, 1), Int32Array.of(sequence.tokenAt(position)));
        continue;
      }
      const own = this.#drawnAbove(row, sequence.id, position);
      const drawn = elsewhere?.tokenAt(sequence.id, position);
      if (own) stream.copy(this.#idsFrom(row, 1), own);
      else if (drawn) runs.add(row, drawn);
      else throw new LedgerError(`the token of row ${row} is neither known nor drawn`);
    }
    runs.end();
    return false;
  }

  #areInPlace(sequences: readonly Sequence[]): boolean {
    for (let row = 0; row < sequences.length; row += 1) {
      const sequence = sequences[row];
      if (sequence && !this.#isInPlace(sequence, row)) return false;
    }
    return true;
  }

  #isInPlace({ id, computedTokens }: Sequence, row: number): boolean {
    const { ids, positions } = this.#fed;
    return ids[row] === id && positions[row] === computedTokens - 1;
  }

  /** What the device has when the step that was set is over. */
  #note(sequences: readonly Sequence[]): void {
    const { ids, positions } = this.#fed;
    ids.fill(0);
    for (let row = 0; row < sequences.length; row += 1) {
      ids[row] = sequences[row]?.id ?? 0;
      positions[row] = sequences[row]?.computedTokens ?? 0;
    }
  }

  #drawnAbove(row: number, id: number, position: number): Tensor | undefined {
    const { ids, positions } = this.#fed;
    const from = ids.findIndex((fed, at) => fed === id && positions[at] === position);
    return from > row ? this.#idsFrom(from, 1) : undefined;
  }

  #idsFrom(row: number, length: number): Tensor {
    return Tensor.of(this.#outputs, [length], 'i32', { byteOffset: row * 4 });
  }

  #column(name: keyof typeof placeOf, rows: number): Tensor {
    const byteOffset = placeOf[name] * this.#maxRows * 4;
    return Tensor.of(this.#inputs, [rows], 'i32', { byteOffset });
  }
}
