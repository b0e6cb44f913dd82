/** What plans need to know about a device; plain data. */
export interface DeviceLimits {
  /** Compute capability, `9.0`; empty on the CPU. */
  readonly sm: string;
  /** Streaming multiprocessors; on the CPU the processors that this process may use. */
  readonly processors: number;
  readonly maxThreadsPerBlock: number;
  /** Largest block in x, y, z. */
  readonly maxBlock: readonly number[];
  /** Largest grid in x, y, z. */
  readonly maxGrid: readonly number[];
  /** Shared memory of a block without opting in, in bytes. */
  readonly sharedBytesPerBlock: number;
  /** Shared memory of a block after opting in, in bytes. */
  readonly sharedBytesPerBlockOptIn: number;
  /** Device memory in bytes; 0 = unknown. */
  readonly memoryBytes: number;
  /** Instruction-set level of the CPU backend; empty on CUDA. */
  readonly cpuLevel: string;
}
