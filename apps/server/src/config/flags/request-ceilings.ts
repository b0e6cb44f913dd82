/** Beyond these no operator may go by flags; requests are held to what the flags say. */
export const mostOf = {
  n: 128,
  prompts: 2048,
  /** Alternatives of a token: what the kernel finds. */
  logprobs: 256,
  stopStrings: 128,
  logitBiases: 8192,
} as const;

/** What one request may ask for; the operator's flags, below the ceilings. */
export type RequestLimits = Readonly<Record<keyof typeof mostOf, number>>;
