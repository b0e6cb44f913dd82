import { type CodedFacts, CudaRuntimeError } from './cuda-runtime-error.js';
import { hasMarker } from './marker.js';

/** A buffer that is alive: held by JavaScript, by work or by a graph. */
export interface LiveBuffer {
  /** Empty without one. */
  readonly label: string;
  readonly bytes: number;
}

/** What an out-of-memory error knows besides the facts of every error. */
interface MemoryFacts extends CodedFacts {
  readonly requestedBytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly reservedBytes?: number | undefined;
  readonly largestLive?: readonly LiveBuffer[] | undefined;
}

/**
 * Device or pinned memory is exhausted; not sticky, the runtime goes on. The sizes are undefined
 * where no allocation of a buffer failed, but the process had no memory for something else.
 */
export class OutOfMemoryError extends CudaRuntimeError {
  /** Bytes asked for. */
  readonly requestedBytes: number | undefined;
  /**
   * Bytes that the device or the host still has outside of the pool; on the CPU below the limit.
   */
  readonly freeBytes: number | undefined;
  /** Bytes that the memory pool has taken from the system, used or kept. */
  readonly reservedBytes: number | undefined;
  /** The runtime's five largest buffers in that memory, largest first. */
  readonly largestLive: readonly LiveBuffer[];

  constructor(facts: MemoryFacts) {
    super({ code: 'CRT_OOM', ...facts });
    this.requestedBytes = facts.requestedBytes;
    this.freeBytes = facts.freeBytes;
    this.reservedBytes = facts.reservedBytes;
    this.largestLive = facts.largestLive ?? [];
  }

  static override isInstance(value: unknown): value is OutOfMemoryError {
    return hasMarker(value, 'OutOfMemoryError');
  }
}
