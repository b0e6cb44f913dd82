/**
 * Loads weights in two passes: first every tensor is found, checked and given its place on the
 * device; then the bytes are read, in bounded pieces. So a missing tensor or a lack of memory shows
 * before the first byte is read.
 */

import { type Device, type HostBuffer, type Stream, Tensor } from '@altstream/cuda-runtime';
import { roundToBf16, widenBf16, widenMxfp8 } from './convert.js';
import type { Conversion, LoadProgress, TensorCount } from './load-report.js';
import { type FoundPart, findPart, findVector, type MatrixPart, mxBlock } from './matrix-part.js';
import {
  chooseStorage,
  conversionReason,
  type MatrixStorage,
  storageOf,
} from './matrix-storage.js';
import type { Matrix } from './model-weights.js';
import type { StoredTensor, TensorSource } from './tensor-source.js';
import type { Spellings } from './weight-names.js';

/** Largest piece read at once, in bytes. */
const stagingBytes = 8 * 1024 * 1024;

/** Tensors read at the same time. */
const readers = 4;

/** Bytes handed to the stream before it is waited for, so that copies do not pile up. */
const inFlightBytes = 64 * 1024 * 1024;

/** Parts of one matrix, top to bottom. */
export type MatrixParts = readonly [MatrixPart, ...MatrixPart[]];

interface Settled {
  readonly status: 'fulfilled' | 'rejected';
  readonly reason?: unknown;
}

interface Job {
  readonly tensor: StoredTensor;
  readonly bytes: number;
  run(): Promise<void>;
}

/** Plans and runs the load of one checkpoint onto one stream's device. */
export class WeightLoader {
  readonly conversions: Conversion[] = [];
  readonly storage: Record<MatrixStorage, number> = { bf16: 0, f32: 0, mxfp8: 0 };
  readonly used: TensorCount = { tensors: 0, bytes: 0 };
  readonly usedNames = new Set<string>();
  deviceBytes = 0;
  readonly #source: TensorSource;
  readonly #stream: Stream;
  readonly #device: Device;
  readonly #jobs: Job[] = [];
  readonly #owned: Tensor[] = [];
  /** All staging memory: host buffers, which a file's bytes are copied to without a detour. */
  readonly #hostBuffers: HostBuffer[] = [];
  /** Staging memory that no piece uses: fresh one would cost a page fault every 4 KiB. */
  readonly #staging: Uint8Array[] = [];
  #unsynchronized = 0;

  constructor(source: TensorSource, stream: Stream) {
    this.#source = source;
    this.#stream = stream;
    this.#device = stream.device;
  }

  /** A vector, widened to f32. */
  vector(spellings: Spellings, length: number): Tensor {
    const tensor = findVector(this.#source, spellings, length);
    const destination = this.#allocate([length], 'f32', tensor.name);
    this.#queue(tensor, tensor.bytes, async () => {
      if (this.#source.fill) return this.#source.fill(tensor, destination, this.#stream);
      const bytes = await this.#readRange(tensor, 0, tensor.bytes);
      this.#write(destination, tensor.dtype === 'BF16' ? widenBf16(bytes) : bytes);
    });
    return destination;
  }

  /**
   * Parts with equal columns, one below the other in one matrix. It stays as stored; parts of
   * different storage, and MXFP8 parts cut inside a block, become bf16 or f32 without loss.
   *
   * @param storage what `storageOf` gave, or a wider type
   */
  matrix(parts: MatrixParts, storage?: MatrixStorage): Matrix {
    const found = parts.map((part) => findPart(this.#source, part));
    const target = storage ?? chooseStorage(found);
    const rows = found.reduce((sum, { rowRange }) => sum + rowRange.count, 0);
    const columns = found[0]?.columnRange.count ?? 0;
    const label = parts[0].spellings[0].name;
    const isMx = target === 'mxfp8';
    const data = this.#allocate([rows, columns], isMx ? 'e4m3' : target, label);
    const scales = isMx
      ? this.#allocate([rows, columns / mxBlock], 'e8m0', `${label}_scale_inv`)
      : undefined;
    this.storage[target]++;
    let row = 0;
    for (const part of found) {
      this.#queuePart(part, target, { data, scales }, row);
      row += part.rowRange.count;
    }
    return { data, scales };
  }

  /** How `matrix` would store these parts. */
  storageOf(parts: MatrixParts): MatrixStorage {
    return chooseStorage(parts.map((part) => findPart(this.#source, part)));
  }

  /** Reads everything that was planned. */
  async run(onProgress?: LoadProgress, signal?: AbortSignal): Promise<void> {
    const totalBytes = this.#jobs.reduce((sum, { bytes }) => sum + bytes, 0);
    const waiting = [...this.#jobs].reverse();
    let bytes = 0;
    const work = async () => {
      try {
        for (let job = waiting.pop(); job; job = waiting.pop()) {
          signal?.throwIfAborted();
          await job.run();
          bytes += job.bytes;
          onProgress?.({ bytes, totalBytes, tensor: job.tensor.name });
        }
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    };
    // One reads while another copies. The first error stops all of them before it leaves here, so
    // that nobody waits for the rest of a checkpoint that cannot be loaded.
    const workers = Array.from({ length: readers }, () => work());
    for (const { status, reason } of (await Promise.allSettled(workers)) as Settled[]) {
      if (status === 'rejected') throw reason;
    }
    await this.#stream.synchronize();
    this.#freeStaging();
  }

  /** Frees everything that was allocated; what `vector` and `matrix` gave is borrowed, and ends. */
  dispose(): void {
    this.#freeStaging();
    for (const tensor of this.#owned) tensor.dispose();
    this.#owned.length = 0;
  }

  #queuePart(part: FoundPart, target: MatrixStorage, matrix: Matrix, row: number): void {
    const { tensor, scales } = part;
    if (part.rowRange.count === 0 || part.columnRange.count === 0) {
      for (const stored of scales ? [tensor, scales] : [tensor]) this.#use(stored, 0);
      return;
    }
    if (this.#source.fill) {
      this.#queueFills(part, matrix, row);
      return;
    }
    if (storageOf(tensor) !== target) {
      const { name, dtype } = tensor;
      const reason = conversionReason(part, target);
      this.conversions.push({ tensor: name, from: dtype, to: target, reason });
    }
    const bytesOf = (stored: StoredTensor) =>
      (stored.bytes / storedRows(stored)) * part.rowRange.count;
    if (target === 'mxfp8' && scales && matrix.scales) {
      const { data, scales: scalesTo } = matrix;
      const { rowRange, columnRange, firstRow } = part;
      this.#queue(tensor, bytesOf(tensor), () =>
        this.#copyRows({ stored: tensor, firstRow, rowRange, columnRange }, data, row),
      );
      const blocks = { start: columnRange.start / mxBlock, count: columnRange.count / mxBlock };
      this.#queue(scales, bytesOf(scales), () =>
        this.#copyRows({ stored: scales, firstRow, rowRange, columnRange: blocks }, scalesTo, row),
      );
      return;
    }
    if (scales) this.#queue(scales, bytesOf(scales), async () => {});
    this.#queue(tensor, bytesOf(tensor), () => this.#convertRows(part, target, matrix.data, row));
  }

  /** Made where they lie, so that there is nothing to convert. */
  #queueFills({ tensor, scales, rowRange }: FoundPart, matrix: Matrix, row: number): void {
    const fill = (stored: StoredTensor, whole: Tensor) => {
      const into = whole.slice(0, row, row + rowRange.count);
      this.#queue(stored, into.bytes, async () => {
        await this.#source.fill?.(stored, into, this.#stream);
      });
    };
    fill(tensor, matrix.data);
    if (scales && matrix.scales) fill(scales, matrix.scales);
  }

  /** Moves rows as they are. */
  async #copyRows(from: StoredRows, to: Tensor, toRow: number): Promise<void> {
    for await (const { bytes, done, rows } of this.#pieces(from)) {
      this.#write(to.slice(0, toRow + done, toRow + done + rows), bytes);
      await this.#settle();
    }
  }

  /** Moves rows through f32 into another storage. */
  async #convertRows(
    part: FoundPart,
    target: MatrixStorage,
    to: Tensor,
    toRow: number,
  ): Promise<void> {
    const { tensor: stored, scales, rowRange, columnRange, columns, firstRow } = part;
    const whole = { start: 0, count: columns };
    for await (const { bytes, done, rows } of this.#pieces({
      stored,
      firstRow,
      rowRange,
      columnRange: scales ? whole : columnRange,
    })) {
      let values: ArrayBufferView = bytes;
      if (scales) {
        const perRow = columns / mxBlock;
        const start = (firstRow + rowRange.start + done) * perRow;
        const scaleBytes = await this.#readRange(scales, start, rows * perRow);
        values = cutColumns(widenMxfp8(bytes, scaleBytes), columns, columnRange);
        if (target === 'bf16') values = roundToBf16(values as Float32Array);
      } else if (target === 'f32' && stored.dtype === 'BF16') values = widenBf16(bytes);
      this.#write(to.slice(0, toRow + done, toRow + done + rows), values);
      await this.#settle();
    }
  }

  /**
   * Reads rows in pieces of whole rows, cut to the columns that are wanted. A piece lasts until the
   * next.
   */
  async *#pieces({ stored, firstRow, rowRange, columnRange }: StoredRows) {
    const rowBytes = stored.bytes / storedRows(stored);
    const columns = stored.shape.at(-1) ?? 0;
    const elementBytes = rowBytes / columns;
    const rowsPerPiece = Math.max(1, Math.floor(stagingBytes / rowBytes));
    const byteRange = {
      start: columnRange.start * elementBytes,
      count: columnRange.count * elementBytes,
    };
    const staging = this.#staging.pop() ?? (await this.#allocateStaging());
    try {
      for (let done = 0; done < rowRange.count; done += rowsPerPiece) {
        const rows = Math.min(rowsPerPiece, rowRange.count - done);
        const start = (firstRow + rowRange.start + done) * rowBytes;
        const bytes = await this.#readRange(stored, start, rows * rowBytes, staging);
        yield { bytes: cutColumns(bytes, rowBytes, byteRange), done, rows };
      }
    } finally {
      this.#staging.push(staging);
    }
  }

  async #readRange(
    stored: StoredTensor,
    start: number,
    bytes: number,
    staging: Uint8Array = Buffer.allocUnsafeSlow(bytes),
  ): Promise<Uint8Array> {
    // A row longer than the staging buffer gets a buffer of its own. Buffers never come from Node's
    // shared pool: views of other element types need aligned memory.
    const fits = staging.byteLength >= bytes;
    const into = fits ? staging.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes);
    await this.#source.read(stored, start, into);
    return into;
  }

  async #allocateStaging(): Promise<Uint8Array> {
    const memory = await this.#device.allocHost(stagingBytes);
    this.#hostBuffers.push(memory);
    return new Uint8Array(memory.buffer);
  }

  #freeStaging(): void {
    for (const memory of this.#hostBuffers) memory.dispose();
    this.#hostBuffers.length = 0;
    this.#staging.length = 0;
  }

  #allocate(shape: readonly number[], dtype: Tensor['dtype'], label: string): Tensor {
    const tensor = Tensor.allocate(this.#device, shape, dtype, { stream: this.#stream, label });
    this.#owned.push(tensor);
    this.deviceBytes += tensor.bytes;
    return tensor.borrow();
  }

  #queue(tensor: StoredTensor, bytes: number, run: () => Promise<void>): void {
    this.#use(tensor, bytes);
    this.#jobs.push({ tensor, bytes, run });
  }

  #use({ name }: StoredTensor, bytes: number): void {
    if (!this.usedNames.has(name)) this.used.tensors++;
    this.usedNames.add(name);
    this.used.bytes += bytes;
  }

  #write(to: Tensor, values: ArrayBufferView): void {
    this.#stream.write(to, values);
    this.#unsynchronized += values.byteLength;
  }

  async #settle(): Promise<void> {
    if (this.#unsynchronized < inFlightBytes) return;
    await this.#stream.synchronize();
    this.#unsynchronized = 0;
  }
}

/** Rows of a stored tensor, seen as a matrix. */
interface StoredRows {
  readonly stored: StoredTensor;
  readonly firstRow: number;
  readonly rowRange: { readonly start: number; readonly count: number };
  readonly columnRange: { readonly start: number; readonly count: number };
}

function storedRows(tensor: StoredTensor): number {
  return tensor.shape.slice(0, -1).reduce((product, size) => product * size, 1);
}

/** The wanted columns of every row, dense. The array itself when that is all of it. */
function cutColumns<T extends Uint8Array | Float32Array>(
  values: T,
  columns: number,
  { start, count }: { readonly start: number; readonly count: number },
): T {
  if (count === columns) return values;
  const rows = values.length / columns;
  const cut = values.slice(0, rows * count) as T;
  for (let row = 0; row < rows; row++) {
    const first = row * columns + start;
    cut.set(values.subarray(first, first + count), row * count);
  }
  return cut;
}
