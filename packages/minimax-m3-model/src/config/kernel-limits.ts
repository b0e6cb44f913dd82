/**
 * What the kernels can do, many times what MiniMax-M3 needs. Checked with the config, so that a
 * model that cannot run is refused before its weights are read.
 */
export const kernelLimits = {
  /** Of attention heads and index heads. */
  headDim: 512,
  topkBlocks: 1024,
  experts: 4096,
  /** One slot of 32 stays free for a fused shared expert. */
  expertsPerToken: 31,
} as const;
