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
