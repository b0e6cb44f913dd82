import type { SwigluConfig, WeightFormat } from '../../src/index.js';
import type { RoutingCase } from './routing.js';

/** A problem of the routed experts. */
export interface ExpertsCase extends RoutingCase {
  readonly name: string;
  readonly hidden: number;
  readonly intermediate: number;
  readonly weights: WeightFormat;
  readonly activations: 'bf16' | 'f32';
  readonly swiglu?: SwigluConfig;
  /** Compare only every n-th channel with the reference; default all. */
  readonly every?: number;
}

const formats = [
  ['mxfp8', 'bf16'],
  ['mxfp8', 'f32'],
  ['bf16', 'bf16'],
  ['bf16', 'f32'],
  ['f32', 'bf16'],
  ['f32', 'f32'],
] as const;

/** The MLP of a small model, unless changed. */
const small = { tokens: 7, k: 2, experts: 8, hidden: 64, intermediate: 32 };
const mx = { weights: 'mxfp8', activations: 'bf16' } as const;
const odd = { hidden: 137, intermediate: 29 };
const ends = { tokens: 150, experts: 3, hidden: 288, intermediate: 160 };

/** Shapes, formats, routings and activations. */
export const expertsCases: readonly ExpertsCase[] = [
  ...formats.flatMap(([weights, activations]) => [
    { name: `${weights} × ${activations}, T32`, ...small, weights, activations },
    {
      name: `${weights} × ${activations}, T128 shapes, 33 tokens`,
      ...{ tokens: 33, k: 4, experts: 16, hidden: 256, intermediate: 128 },
      ...{ weights, activations },
    },
  ]),
  ...[1, 3, 31, 33, 130, 257].map((tokens) => ({
    name: `${tokens} tokens`,
    ...small,
    tokens,
    ...mx,
  })),
  ...[1, 33].map((tokens) => ({
    name: `${tokens} tokens, 4 of 128`,
    ...{ ...small, tokens, k: 4, experts: 128, ...mx },
  })),
  ...(['bf16', 'f32'] as const).map((weights) => ({
    name: `${weights}, hidden 40, intermediate 36: no multiples of a vector`,
    ...{ ...small, hidden: 40, intermediate: 36, weights, activations: 'f32' as const },
  })),
  {
    name: 'bf16 × bf16, rows of odd length',
    ...small,
    ...odd,
    weights: 'bf16',
    activations: 'bf16',
  },
  { name: 'mxfp8, ten slices of columns', ...small, hidden: 2336, ...mx, every: 5 },
  { name: 'mxfp8, tiles with ends', ...small, ...ends, ...mx, every: 3 },
  { name: 'bf16, tiles with ends', ...small, ...ends, ...mx, weights: 'bf16', every: 3 },
  { name: 'mxfp8, odd multiples of 32', ...small, hidden: 160, intermediate: 96, ...mx },
  { name: 'mxfp8, one block', ...small, hidden: 32, intermediate: 32, ...mx },
  {
    name: 'mxfp8 × f32, odd multiples of 32',
    ...small,
    hidden: 160,
    intermediate: 96,
    weights: 'mxfp8',
    activations: 'f32',
  },
  {
    name: 'all tokens on one expert, more than a row tile',
    ...small,
    tokens: 130,
    pattern: 'one expert',
    ...mx,
  },
  {
    name: 'first and last expert (sglang#26473)',
    ...small,
    tokens: 9,
    experts: 128,
    pattern: 'first and last',
    ...mx,
  },
  { name: 'id -1 in every position (vLLM#57946)', ...small, tokens: 33, pattern: 'with -1', ...mx },
  { name: 'only -1 gives zeros', ...small, pattern: 'none local', ...mx },
  {
    name: 'the same expert twice above 256 tokens (flashinfer#3011)',
    ...small,
    tokens: 257,
    pattern: 'duplicates',
    ...mx,
  },
  { name: 'ids out of range (vLLM#50189)', ...small, tokens: 33, pattern: 'garbage', ...mx },
  {
    name: 'another alpha, beta and limit (sglang#33962, vLLM#48929)',
    ...small,
    ...mx,
    swiglu: { alpha: 1.1, beta: 0.5, limit: 3 },
  },
  {
    name: 'plain SwiGLU',
    ...small,
    ...mx,
    swiglu: { alpha: 1, beta: 0, limit: Number.POSITIVE_INFINITY },
  },
  // Rows of one expert at the borders of fragments and tiles; a short last slice, one of half a
  // group.
  ...[8, 9, 16, 17].map((tokens) => ({
    name: `${tokens} rows of one expert`,
    ...{ ...small, tokens, k: 1, hidden: 640, intermediate: 40, pattern: 'one expert' as const },
    weights: 'bf16' as const,
    activations: 'bf16' as const,
    every: 3,
  })),
  ...[384, 640, 672].map((hidden) => ({
    name: `mxfp8, ${hidden} columns`,
    ...{ ...small, tokens: 40, experts: 4, hidden, intermediate: 128, ...mx, every: 7 },
  })),
  // Row tiles shared by the warps of a block: 17.5 and 16.5 slices, more than 8 rows an expert.
  {
    name: 'mxfp8, shared row tiles',
    ...{ ...small, tokens: 20, experts: 3, hidden: 4480, intermediate: 64, ...mx, every: 11 },
  },
  {
    name: 'bf16, shared row tiles',
    ...{ ...small, experts: 3, hidden: 2112, intermediate: 44, every: 5 },
    ...{ weights: 'bf16', activations: 'bf16' },
  },
  {
    name: 'more columns than are shared',
    ...{ tokens: 3, k: 1, experts: 2, hidden: 6400, intermediate: 32, ...mx, every: 3 },
  },
  {
    name: '300 experts',
    ...{ ...small, tokens: 50, k: 4, experts: 300, hidden: 128, ...mx, every: 5 },
  },
  {
    name: 'a TP8 slice of the real width',
    ...{ tokens: 2, k: 2, experts: 3, hidden: 6144, intermediate: 384, ...mx, every: 17 },
  },
  {
    name: 'one expert of the real width',
    ...{ tokens: 1, k: 1, experts: 1, hidden: 6144, intermediate: 3072, ...mx, every: 97 },
  },
];
