import { type Device, type HostBuffer, type Stream, Tensor } from '@altstream/cuda-runtime';
import type { ModelBatch } from '../model.js';
import type { Sequence } from '../sequence.js';
import { PageTable } from './page-table.js';

/** What changes with every step, in the order of the block. */
const columns = ['positions', 'slots', 'samplePositions'] as const;

/**
 * Inputs and outputs of decode steps at fixed addresses. A step is one submission: the numbers that
 * change lie in pinned memory, and both copies, to the device and back, are part of the step. A sampled id
 * is written where the next step reads its token, so it is never sent.
 */
export class DecodeBlock {
  readonly #maxRows: number;
  readonly #pageTable: PageTable;
  readonly #owned: readonly Tensor[];
  // Parts of these are made at each step and forgotten, so they are borrowed.
  /** Row r reads row r of the page table, and its logits are wanted. */
  readonly #identity: Tensor;
  readonly #inputs: Tensor;
  readonly #inputsHost: HostBuffer;
  readonly #inputsView: Int32Array;
  /** Ids, then logprobs. */
  readonly #outputs: Tensor;
  readonly #outputsHost: HostBuffer;
  /** Sequence and position of each row whose next token is on the device. */
  #fed: readonly { readonly id: number; readonly position: number }[] = [];

  constructor(device: Device, { maxRows, maxPages }: { maxRows: number; maxPages: number }) {
    const make = (name: string, shape: readonly number[]): Tensor =>
      Tensor.allocate(device, shape, 'i32', { label: `decode.${name}` });
    this.#maxRows = maxRows;
    this.#pageTable = new PageTable(device, { sequences: maxRows, maxPages }, 'decode');
    const identity = make('rows', [maxRows]);
    const inputs = make('inputs', [columns.length, maxRows]);
    const outputs = make('outputs', [2, maxRows]);
    this.#owned = [identity, inputs, outputs];
    this.#identity = identity.borrow();
    this.#inputs = inputs.borrow();
    this.#outputs = outputs.borrow();
    this.#inputsHost = device.allocHostSync(this.#inputs.bytes);
    this.#inputsView = new Int32Array(this.#inputsHost.buffer).fill(-1);
    this.#outputsHost = device.allocHostSync(this.#outputs.bytes);
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
   * Fills the pinned inputs for the sequences, and padding up to `rows`. Enqueues only what a step
   * cannot know itself: new page-table rows, and tokens of rows whose sequence changed.
   *
   * @returns whether the tokens were on the device already
   */
  set(stream: Stream, sequences: readonly Sequence[], rows: number): boolean {
    const view = this.#inputsView;
    const [position = 0, slot = 0, sample = 0] = columns.map((_, c) => c * this.#maxRows);
    view.fill(-1);
    sequences.forEach((sequence, row) => {
      const { computedTokens } = sequence;
      view[position + row] = computedTokens;
      view[slot + row] = sequence.slotAt(computedTokens);
      view[sample + row] = computedTokens + 1;
    });
    this.#pageTable.upload(stream, sequences);
    const isFed = sequences.every(({ id, computedTokens }, row) => {
      const fed = this.#fed[row];
      return fed?.id === id && fed.position === computedTokens;
    });
    if (!isFed) {
      const tokens = sequences.map((sequence) => sequence.tokenAt(sequence.computedTokens));
      stream.write(
        this.ids(rows),
        Int32Array.from({ length: rows }, (_, r) => tokens[r] ?? 0),
      );
    }
    this.#fed = [];
    return isFed;
  }

  /** Enqueues the copy of the pinned inputs; the first operation of a step. */
  send(stream: Stream): void {
    stream.copy(this.#inputs, this.#inputsHost);
  }

  /** Enqueues the copy of ids and logprobs to pinned memory; the last operation of a step. */
  fetch(stream: Stream): void {
    stream.copy(this.#outputsHost, this.#outputs);
  }

  /** What the step that just ended chose for the sequences it was set for. */
  take(sequences: readonly Sequence[]): { ids: Int32Array; logprobs: Float32Array } {
    this.#fed = sequences.map(({ id, computedTokens }) => ({ id, position: computedTokens + 1 }));
    const { buffer, bytes } = this.#outputsHost;
    return {
      ids: new Int32Array(buffer, 0, sequences.length),
      logprobs: new Float32Array(buffer, bytes / 2, sequences.length),
    };
  }

  /** Forgets what the device was told: after a failed step nothing of it is certain. */
  forget(): void {
    this.#fed = [];
    this.#pageTable.forget();
  }

  dispose(): void {
    this.#pageTable.dispose();
    for (const tensor of this.#owned) tensor.dispose();
    this.#inputsHost.dispose();
    this.#outputsHost.dispose();
  }

  #column(name: (typeof columns)[number], rows: number): Tensor {
    const byteOffset = columns.indexOf(name) * this.#maxRows * 4;
    return Tensor.of(this.#inputs, [rows], 'i32', { byteOffset });
  }
}
