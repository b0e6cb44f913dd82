/** A token and how likely it was, in the shape of the chat API. */
export interface TokenChance {
  readonly token: string;
  readonly logprob: number;
  /** Bytes of the token; a character may lie in two tokens. */
  readonly bytes?: readonly number[] | null;
}

/** A token of an answer, and what else could have stood there. */
export interface AnswerToken extends TokenChance {
  /** The most likely ones, this one among them if it is one. */
  readonly top_logprobs?: readonly TokenChance[];
}

const levels = [0.9, 0.7, 0.4, 0.1];

/** How unlikely a token was: 0 from 90 %, 1 from 70 %, 2 from 40 %, 3 from 10 %, 4 below. */
export function heatLevel(logprob: number): number {
  const found = levels.findIndex((least) => Math.exp(logprob) >= least);
  return found < 0 ? levels.length : found;
}

/** What each level stands for, for people. */
export const levelTexts: readonly string[] = [
  ...levels.map((least) => `from ${least * 100} %`),
  `below ${(levels.at(-1) ?? 0) * 100} %`,
];

/** Exponential of the mean negative log-probability; 1 = no doubt anywhere. */
export function perplexity(tokens: readonly TokenChance[]): number {
  const sum = tokens.reduce((all, { logprob }) => all + logprob, 0);
  return Math.exp(-sum / Math.max(1, tokens.length));
}

/**
 * A token's text with what would be invisible made visible; half a character is shown as its bytes.
 */
export function visibleText({ token, bytes }: Pick<TokenChance, 'token' | 'bytes'>): string {
  if (token.includes('\ufffd') && bytes) {
    return `⟨${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')}⟩`;
  }
  if (token === '') return '⟨empty⟩';
  return token.replaceAll(/\p{Cc}/gu, (sign) => {
    if (sign === '\n') return '↵\n';
    return sign === '\t' ? '⇥' : `⟨${(sign.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}⟩`;
  });
}
