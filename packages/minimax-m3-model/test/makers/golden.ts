/** The golden files and what they allow. */

import { readFileSync } from 'node:fs';
import type { ConfigJson } from '@altstream/hash-checkpoint';

/** Names of the golden files. */
export const goldenNames = ['T32', 'T32-mxfp8', 'T128', 'T128-mxfp8'] as const;

/** The parts of a golden file that tests read. */
export interface Golden {
  readonly config: ConfigJson;
  readonly token_ids: readonly number[];
  readonly argmax: readonly number[];
  readonly gap: readonly number[];
  readonly top5_ids: readonly (readonly number[])[];
  readonly top5_logprobs: readonly (readonly number[])[];
  readonly logits: Readonly<Record<string, readonly number[]>>;
  readonly sum_abs_logits: number;
  readonly residual: Readonly<
    Record<string, readonly { pos: number; rms: number; first16: readonly number[] }[]>
  >;
  readonly router: Readonly<
    Record<string, readonly { pos: number; experts: number[]; weights: number[] }[]>
  >;
  readonly blocks: Readonly<Record<string, readonly { pos: number; groups: number[][] }[]>>;
  readonly greedy: readonly {
    token: number;
    gap: number;
    top5: readonly (readonly [number, number])[];
  }[];
}

/** fp32 arithmetic, absolute: two honest implementations differ by up to 1e-5. */
export const logitTolerance = 1e-4;

/** Below this distance to the second best either may win in fp32. */
export const gapTolerance = 2e-4;

/** Reads a golden file. */
export function readGolden(name: string): Golden {
  const file = new URL(`../fixtures/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Golden;
}

/** The built-in model of a golden file and its storage. */
export function hashModelOf(name: string): { model: 'T32' | 'T128'; mxfp8: boolean } {
  return { model: name.startsWith('T32') ? 'T32' : 'T128', mxfp8: name.endsWith('mxfp8') };
}

/** log softmax */
export function logprobs(logits: ArrayLike<number>): Float64Array {
  const values = Float64Array.from(logits);
  const best = values.reduce((a, b) => Math.max(a, b));
  const total = values.reduce((sum, value) => sum + Math.exp(value - best), 0);
  return values.map((value) => value - best - Math.log(total));
}

/** Largest absolute difference. */
export function worst(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let largest = a.length === b.length ? 0 : Number.POSITIVE_INFINITY;
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
