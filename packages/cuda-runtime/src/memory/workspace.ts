import { checkText, wrongKind } from '../arguments/faults.js';
import { checkObject, checkOptions, type OptionNames } from '../arguments/options.js';
import type { Device, DeviceBuffer, TensorAllocator } from '../contract.js';
import { type DType, dtypeBytes } from '../dtype.js';
import { ArgumentError } from '../errors/argument-error.js';
import { DisposedError } from '../errors/disposed-error.js';
import { notTheObject } from '../errors/not-the-object.js';
import { lend } from './lent-buffer.js';
import { elementsOf } from './shape.js';
import { checkShape, sharedBy, type Tensor, TensorView } from './tensor.js';

/** A point to go back to with `release`. */
export interface WorkspaceMark {
  readonly workspace: Workspace;
  readonly chunk: number;
  readonly offset: number;
}

/** A piece of the arena. */
interface Piece {
  readonly owned: DeviceBuffer;
  /** What tensors get as their buffer. */
  readonly lent: DeviceBuffer;
}

/** Options of a workspace. */
export interface WorkspaceOptions {
  /** Name for error messages and races; default `workspace`. */
  readonly label?: string;
  /** Size of an arena piece in bytes, default 16 MiB; a larger tensor gets a piece of its own. */
  readonly chunkBytes?: number;
}

const names: OptionNames<WorkspaceOptions> = { label: true, chunkBytes: true };

// 256 bytes is what CUDA's allocator guarantees and what the widest vector loads want.
const alignment = 256;

/**
 * An arena for the tensors of one step. The same calls after `reset()` give the same addresses, so
 * a captured graph can be replayed and a new capture writes to the same places. Nothing is freed
 * before `dispose`.
 *
 * Tensors of one workspace may be reused after `reset`, `release`: two branches that run at the
 * same time each need their own `lane`.
 */
export class Workspace implements TensorAllocator, Disposable {
  readonly device: Device;
  readonly label: string;
  readonly #chunkBytes: number;
  readonly #chunks: Piece[] = [];
  readonly #lanes = new Map<string, Workspace>();
  #chunk = 0;
  #offset = 0;
  #isDisposed = false;

  constructor(device: Device, options: WorkspaceOptions = {}) {
    const api = 'new Workspace';
    checkOptions(api, 'options', options, names);
    const { label = 'workspace', chunkBytes = 16 * 2 ** 20 } = options;
    if (!Number.isSafeInteger(chunkBytes) || chunkBytes <= 0) {
      throw wrongKind(api, 'chunkBytes', chunkBytes, 'a positive integer');
    }
    if (typeof device?.alloc !== 'function') throw wrongKind(api, 'device', device, 'a device');
    checkText(api, 'label', label);
    this.device = device;
    this.label = label;
    this.#chunkBytes = roundUp(chunkBytes);
  }

  get isDisposed(): boolean {
    if (!(#isDisposed in this)) throw notTheObject('workspace.isDisposed', 'workspace');
    return this.#isDisposed;
  }

  /** Bytes held by this workspace and its lanes; 0 when disposed. */
  get bytes(): number {
    if (!(#chunks in this)) throw notTheObject('workspace.bytes', 'workspace');
    let bytes = 0;
    for (const { owned } of this.#chunks) bytes += owned.bytes;
    for (const lane of this.#lanes.values()) bytes += lane.bytes;
    return bytes;
  }

  /**
   * The next slice of the arena; its contents are whatever was there. Borrowed, as are its views
   * and its `buffer`, whose `dispose` throws `NotOwnerError`: the memory is the workspace's.
   */
  tensor(shape: readonly number[], dtype: DType, label?: string): Tensor {
    this.checkAlive('workspace.tensor');
    const own = checkShape('workspace.tensor', shape, dtype);
    const bytes = elementsOf(own) * dtypeBytes(dtype);
    const buffer = this.#chunkFor(bytes, label);
    const memory = sharedBy('workspace.tensor', buffer);
    const place = { byteOffset: this.#offset, memory, share: 'borrowed' } as const;
    const tensor = new TensorView(buffer, own, dtype, place);
    this.#offset += roundUp(bytes);
    return tensor;
  }

  /** Starts again from the first byte, also in every lane. */
  reset(): void {
    this.checkAlive('workspace.reset');
    this.#chunk = 0;
    this.#offset = 0;
    for (const lane of this.#lanes.values()) if (!lane.isDisposed) lane.reset();
  }

  /** Remembers where the arena stands. */
  mark(): WorkspaceMark {
    this.checkAlive('workspace.mark');
    return { workspace: this, chunk: this.#chunk, offset: this.#offset };
  }

  /** Goes back to a mark: tensors made since may be overwritten by the next ones. */
  release(mark: WorkspaceMark): void {
    this.checkAlive('workspace.release');
    checkObject('workspace.release', 'mark', mark, 'a mark of `workspace.mark`');
    const { workspace, chunk, offset } = mark;
    const isPlace = [chunk, offset].every((value) => Number.isSafeInteger(value) && value >= 0);
    const isBehind = chunk < this.#chunk || (chunk === this.#chunk && offset <= this.#offset);
    if (workspace !== this || !isPlace || !isBehind) {
      const detail = `the mark is not an earlier point of workspace ${this.label}`;
      throw new ArgumentError({ api: 'workspace.release', detail });
    }
    this.#chunk = chunk;
    this.#offset = offset;
  }

  /**
   * A disjoint arena for a branch that runs at the same time; the same object for the same name.
   */
  lane(name: string): Workspace {
    this.checkAlive('workspace.lane');
    checkText('workspace.lane', 'name', name);
    const known = this.#lanes.get(name);
    if (known) return known;
    const label = `${this.label}/${name}`;
    const lane = new Workspace(this.device, { label, chunkBytes: this.#chunkBytes });
    this.#lanes.set(name, lane);
    return lane;
  }

  /** Disposes the arena and its lanes; work already submitted is not affected. */
  dispose(): void {
    if (!(#isDisposed in this)) throw notTheObject('workspace.dispose', 'workspace');
    this.#isDisposed = true;
    for (const { owned } of this.#chunks.splice(0)) owned.dispose();
    for (const lane of this.#lanes.values()) lane.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  // Pieces are only appended and the search goes only forward, so the same calls meet the same
  // pieces, whatever other steps have appended in between.
  #chunkFor(bytes: number, label: string | undefined): DeviceBuffer {
    for (;;) {
      const chunk = this.#chunks[this.#chunk] ?? this.#grow(bytes, label);
      if (this.#offset + bytes <= chunk.owned.bytes) return chunk.lent;
      this.#chunk += 1;
      this.#offset = 0;
    }
  }

  #grow(bytes: number, label: string | undefined): Piece {
    const size = Math.max(this.#chunkBytes, roundUp(bytes));
    const name = `${this.label}#${this.#chunks.length}${label ? ` (${label})` : ''}`;
    const owned = this.device.alloc(size, { label: name });
    const piece = { owned, lent: lend('workspace.tensor', owned) };
    this.#chunks.push(piece);
    return piece;
  }

  /** @internal @throws DisposedError, ArgumentError for a proxy */
  checkAlive(api: string): void {
    if (!(#isDisposed in this)) throw notTheObject(api, 'workspace');
    if (!this.#isDisposed) return;
    throw new DisposedError({ api, detail: `workspace ${this.label} is disposed` });
  }
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
