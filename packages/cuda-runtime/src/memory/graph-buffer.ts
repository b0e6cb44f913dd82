import type { Device } from '../contract.js';
import { ArgumentError } from '../errors/argument-error.js';
import { NotOwnerError } from '../errors/not-owner-error.js';
import type { Handle } from '../native/binding.js';
import { NativeBuffer, nameOf } from './buffer.js';
import { SharedMemory } from './shared-memory.js';

/** A graph that has a node which frees memory. */
interface FreeingGraph {
  readonly isDisposed: boolean;
}

/**
 * Memory that a graph allocates. Disposing it outside is its free, unless a node does that, until
 * the graph of that node is disposed (CM06); views of it are borrowed.
 */
export class GraphBuffer extends NativeBuffer {
  // Weakly: a graph that its user forgot must stay collectable.
  #freedBy: WeakRef<FreeingGraph> | 'capture' | undefined;

  constructor(device: Device, handle: Handle, bytes: number, label: string) {
    super(device, new SharedMemory(handle, nameOf(label, bytes), 'graph'), bytes, label);
  }

  /**
   * @internal A node of `graph`, or of the capture that is open, frees it; undefined: none does.
   */
  freeBy(graph: FreeingGraph | 'capture' | undefined): void {
    this.#freedBy = typeof graph === 'object' ? new WeakRef(graph) : graph;
  }

  override dispose(): void {
    if (!this.isDisposed && this.#isFreedByNode()) {
      throw new NotOwnerError({
        api: 'buffer.dispose',
        number: 1,
        detail: `${this.describe()} is freed by a node of a graph`,
        hint: 'Each launch frees it; dispose the graph of that node first, and then the buffer',
      });
    }
    super.dispose();
  }

  #isFreedByNode(): boolean {
    const freer = this.#freedBy;
    if (freer === undefined || freer === 'capture') return freer === 'capture';
    return freer.deref()?.isDisposed === false;
  }
}

/** Where a buffer or a tensor lies in its memory. */
interface Extent {
  readonly byteOffset: number;
  readonly bytes: number;
}

/** A free ends all of `whole`, so that it names all. @throws ArgumentError for a part */
export function checkFreesAll(
  api: string,
  argument: string,
  { byteOffset, bytes }: Extent,
  whole: GraphBuffer,
): void {
  if (byteOffset === 0 && bytes === whole.bytes) return;
  throw new ArgumentError({
    api,
    number: 1,
    detail: `\`${argument}\` is bytes ${byteOffset} … ${byteOffset + bytes} of ${whole.describe()}, expected all ${whole.bytes}`,
    hint: 'Free the buffer that the graph allocates: its memory ends as one piece',
  });
}
