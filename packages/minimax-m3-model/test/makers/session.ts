/** Sequences of one model with their pages: what an engine does, in the smallest form for tests. */

import { type Stream, type Tensor, Workspace } from '@altstream/cuda-runtime';
import type { KvCache } from '../../src/kv-cache.js';
import type { MiniMaxM3Model } from '../../src/minimax-m3-model.js';
import type { ModelBatch } from '../../src/model-step.js';
import type { ModelTaps } from '../../src/model-taps.js';

/** Tokens to append to a sequence. */
export interface Piece {
  readonly sequence: number;
  readonly tokens: readonly number[];
}

/** How a pass is run. */
export interface RunOptions {
  /** Rows of padding behind the tokens. */
  readonly padding?: number;
  readonly taps?: ModelTaps;
}

/** Device tensors of a batch of fixed size, and their contents. */
interface Inputs {
  readonly batch: ModelBatch;
  write(pieces: readonly Piece[]): void;
}

/** A model with a cache, a workspace and the state of some sequences. */
export class Session {
  readonly model: MiniMaxM3Model;
  readonly stream: Stream;
  readonly workspace: Workspace;
  readonly cache: KvCache;
  readonly #lengths: number[];
  readonly #pages: number[][];
  readonly #free: number[];
  readonly #maxPages: number;

  constructor(
    model: MiniMaxM3Model,
    sequences: number,
    maxTokens: number,
    workspace = new Workspace(model.device, { label: 'test', chunkBytes: 2 ** 20 }),
  ) {
    this.model = model;
    this.stream = model.device.createStream({ name: 'test' });
    this.workspace = workspace;
    this.#maxPages = Math.ceil(maxTokens / model.pageTokens);
    const pages = sequences * this.#maxPages + 1;
    this.cache = model.createCache(pages);
    this.#lengths = new Array<number>(sequences).fill(0);
    this.#pages = Array.from({ length: sequences }, () => []);
    // Pages of a sequence lie apart and in no order; page 0 stays unused.
    this.#free = Array.from({ length: pages - 1 }, (_, i) => pages - 1 - i);
    this.#free.sort((a, b) => ((a * 7919) % 101) - ((b * 7919) % 101) || a - b);
  }

  /** One pass over all pieces; the logits of every token, piece by piece. */
  async run(pieces: readonly Piece[], { padding = 0, taps }: RunOptions = {}) {
    const tokens = pieces.reduce((sum, piece) => sum + piece.tokens.length, 0);
    const inputs = this.#inputs(tokens + padding);
    inputs.write(pieces);
    this.workspace.reset();
    const { stream, workspace } = this;
    const step = { stream, workspace, ...(taps && { taps }) };
    const logits = this.model.forward(inputs.batch, this.cache, step);
    return split(await this.read(logits), pieces, this.model.vocabSize);
  }

  /** Captures a pass of `rows` tokens; the result replays it with new contents. */
  async capture(rows: number) {
    const inputs = this.#inputs(rows);
    const { model, workspace, cache, stream } = this;
    let logits: Tensor | undefined;
    const graph = model.device.capture(
      (capturing) => {
        workspace.reset();
        logits = model.forward(inputs.batch, cache, { stream: capturing, workspace });
      },
      { stream },
    );
    const exec = await graph.instantiate();
    const replay = async (pieces: readonly Piece[]) => {
      inputs.write(pieces);
      exec.launch(stream);
      return split(await this.read(logits as Tensor), pieces, model.vocabSize);
    };
    return { graph, replay };
  }

  /** Forgets all sequences. */
  reset(): void {
    this.#lengths.fill(0);
    for (const pages of this.#pages) this.#free.push(...pages.splice(0));
  }

  /** Forgets the tokens of every sequence behind the first `length`; those keep their pages. */
  rewind(length: number): void {
    this.#lengths.fill(length);
  }

  /** Values of an f32 tensor. */
  async read(tensor: Tensor): Promise<Float32Array> {
    const values = new Float32Array(tensor.elements);
    await this.stream.read(tensor, values);
    return values;
  }

  #inputs(rows: number): Inputs {
    const { stream } = this;
    const sequences = this.#lengths.length;
    const vector = () => stream.tensor([rows], 'i32', 'test input');
    const batch = {
      tokenIds: vector(),
      positions: vector(),
      sequenceIds: vector(),
      slots: vector(),
      rows: vector(),
      pageTable: stream.tensor([sequences, this.#maxPages], 'i32', 'page table'),
    };
    return { batch, write: (pieces) => this.#write(batch, rows, pieces) };
  }

  #write(batch: ModelBatch, rows: number, pieces: readonly Piece[]): void {
    const host = {
      tokenIds: new Int32Array(rows).fill(-1),
      positions: new Int32Array(rows).fill(-1),
      sequenceIds: new Int32Array(rows),
      slots: new Int32Array(rows).fill(-1),
      rows: Int32Array.from({ length: rows }, (_, i) => i),
      pageTable: new Int32Array(this.#lengths.length * this.#maxPages).fill(-1),
    };
    let row = 0;
    for (const { sequence, tokens } of pieces) {
      for (const token of tokens) {
        const position = this.#lengths[sequence] ?? 0;
        host.tokenIds[row] = token;
        host.positions[row] = position;
        host.sequenceIds[row] = sequence;
        host.slots[row] = this.#slot(sequence, position);
        this.#lengths[sequence] = position + 1;
        row++;
      }
    }
    for (const [sequence, pages] of this.#pages.entries()) {
      host.pageTable.set(pages, sequence * this.#maxPages);
    }
    for (const [name, values] of Object.entries(host)) {
      this.stream.write(batch[name as keyof ModelBatch], values);
    }
  }

  #slot(sequence: number, position: number): number {
    const { pageTokens } = this.model;
    const pages = this.#pages[sequence] as number[];
    const block = Math.floor(position / pageTokens);
    if (block === pages.length) pages.push(this.#free.shift() as number);
    return (pages[block] as number) * pageTokens + (position % pageTokens);
  }
}

/** [piece][token] → logits */
function split(all: Float32Array, pieces: readonly Piece[], vocab: number): Float32Array[][] {
  let row = 0;
  return pieces.map(({ tokens }) =>
    tokens.map(() => {
      const logits = all.slice(row * vocab, (row + 1) * vocab);
      row++;
      return logits;
    }),
  );
}

/** Index of the largest value. */
export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if ((values[i] as number) > (values[best] as number)) best = i;
  }
  return best;
}
