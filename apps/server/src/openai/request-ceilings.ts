/** Beyond these no server goes, whatever its flags say; the shapes of requests have them. */
export const mostOf = {
  n: 128,
  prompts: 2048,
  logprobs: 20,
  stopStrings: 128,
  logitBiases: 8192,
} as const;
