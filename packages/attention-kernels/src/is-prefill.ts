/** What a batch shows of itself to the host: its lengths are on the device. */
export interface BatchSizes {
  readonly tokens: number;
  /** Rows of the page table. */
  readonly sequences: number;
}

// Decode steps have a token a sequence, and tables of few rows may serve small steps of any kind.
const mostDecodeTokens = 64;
const leastTokensOfPrompt = 4;

/**
 * Whether neighbouring tokens are probably of one prompt, so that kernels for tokens that share
 * keys pay. A wrong guess costs time, not one bit of the result.
 */
export function isPrefill({ tokens, sequences }: BatchSizes): boolean {
  return tokens > mostDecodeTokens && tokens >= leastTokensOfPrompt * sequences;
}
