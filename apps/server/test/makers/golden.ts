import { readFileSync } from 'node:fs';

/** What transformers computed for a hash-weight model, in fp32. */
export interface Golden {
  /** The prompt. */
  readonly tokenIds: readonly number[];
  /** Greedy continuation of the prompt, with the best five of each step. */
  readonly greedy: readonly {
    readonly token: number;
    readonly top5: readonly [number, number][];
  }[];
  /** Best five ids at each position of the prompt, and their log-probabilities. */
  readonly topIds: readonly (readonly number[])[];
  readonly topLogprobs: readonly (readonly number[])[];
}

/** Reads the golden file of a model. */
export function readGolden(name: 'T32' | 'T128' | 'T32-mxfp8' | 'T128-mxfp8'): Golden {
  const path = new URL(
    `../../../../packages/minimax-m3-model/test/fixtures/${name}.json`,
    import.meta.url,
  );
  const file = JSON.parse(readFileSync(path, 'utf8')) as {
    token_ids: number[];
    greedy: Golden['greedy'];
    top5_ids: number[][];
    top5_logprobs: number[][];
  };
  return {
    tokenIds: file.token_ids,
    greedy: file.greedy,
    topIds: file.top5_ids,
    topLogprobs: file.top5_logprobs,
  };
}
