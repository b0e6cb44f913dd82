/** What the device's compiler made of a kernel. */
export interface KernelCode {
  /** Registers of a thread. */
  readonly registers: number;
  /** Static shared memory of a block in bytes. */
  readonly sharedBytes: number;
  /** Local memory of a thread in bytes: spilled registers and arrays. */
  readonly localBytes: number;
  /** Architecture of the machine code that runs, e.g. 90. */
  readonly binaryVersion: number;
  /** Architecture of the PTX that it was made from. */
  readonly ptxVersion: number;
}

/** What a manifest says about a kernel besides its parameters. */
export interface KernelAttributes {
  readonly name: string;
  /** Largest block that the kernel was compiled for. */
  readonly maxThreadsPerBlock: number;
  /** Lowest compute capability, e.g. `8.0`. */
  readonly minSm: string;
  /** Programmatic dependent launch: waits for its predecessor, lets its successor start. */
  readonly pdl: { readonly waits: boolean; readonly triggers: boolean };
}
