import type { ReferenceSettings } from '../reference/sampling.js';

/** A batch of rows that share vocabulary and settings. */
export interface SamplingCase {
  readonly name: string;
  readonly rows: number;
  readonly vocab: number;
  readonly settings: ReferenceSettings;
  /**
   * `tied`: logits of few values; `sparse`: half are -infinity or NaN; `cluster`: all but one
   * within a hundredth. Default normal, scale 3.
   */
  readonly logits?: 'tied' | 'sparse' | 'cluster';
  /** Elements between rows of logits beyond the vocabulary. */
  readonly gap?: number;
}

const off: ReferenceSettings = { temperature: 1, topK: 0, topP: 1, minP: 0 };

/**
 * Each filter alone and all together; one id, odd sizes, ties, impossible ids, MiniMax-M3's
 * 200,064.
 */
export const samplingCases: readonly SamplingCase[] = [
  { name: 'no rows', rows: 0, vocab: 10, settings: off },
  { name: 'one id', rows: 3, vocab: 1, settings: off },
  { name: 'greedy', rows: 9, vocab: 1031, settings: { ...off, temperature: 0 } },
  {
    name: 'greedy with ties',
    rows: 9,
    vocab: 1031,
    settings: { ...off, temperature: 0 },
    logits: 'tied',
  },
  { name: 'temperature', rows: 67, vocab: 1031, settings: { ...off, temperature: 0.7 } },
  { name: 'hot', rows: 67, vocab: 77, settings: { ...off, temperature: 100 }, logits: 'sparse' },
  {
    name: 'endless temperature',
    rows: 9,
    vocab: 77,
    settings: { ...off, temperature: Number.POSITIVE_INFINITY },
    logits: 'sparse',
  },
  { name: 'almost cold', rows: 9, vocab: 77, settings: { ...off, temperature: 1e-30 } },
  { name: 'top-k', rows: 67, vocab: 1031, settings: { ...off, topK: 40 }, gap: 5 },
  { name: 'top-k 1', rows: 9, vocab: 1031, settings: { ...off, topK: 1 }, logits: 'tied' },
  {
    name: 'top-k among ties',
    rows: 67,
    vocab: 500,
    settings: { ...off, topK: 50 },
    logits: 'tied',
  },
  {
    name: 'top-k among zeros of both signs',
    rows: 67,
    vocab: 500,
    settings: { ...off, topK: 250 },
    logits: 'tied',
  },
  { name: 'top-k above the vocabulary', rows: 9, vocab: 77, settings: { ...off, topK: 1000 } },
  { name: 'top-p', rows: 67, vocab: 1031, settings: { ...off, topP: 0.9 } },
  {
    name: 'top-p among ties',
    rows: 67,
    vocab: 500,
    settings: { ...off, topP: 0.5 },
    logits: 'tied',
  },
  { name: 'top-p 0 keeps the best', rows: 9, vocab: 1031, settings: { ...off, topP: 0 } },
  { name: 'min-p', rows: 67, vocab: 1031, settings: { ...off, minP: 0.05 } },
  { name: 'min-p 1 keeps the best', rows: 9, vocab: 77, settings: { ...off, minP: 1 } },
  {
    name: 'all filters',
    rows: 67,
    vocab: 1031,
    settings: { temperature: 1.5, topK: 100, topP: 0.8, minP: 0.02 },
  },
  {
    name: 'all filters, impossible ids',
    rows: 67,
    vocab: 333,
    settings: { temperature: 0.8, topK: 100, topP: 0.95, minP: 0.01 },
    logits: 'sparse',
  },
  {
    name: 'a part and an id more',
    rows: 5,
    vocab: 2049,
    settings: { temperature: 3, topK: 1500, topP: 0.9, minP: 0.01 },
  },
  { name: 'exactly two parts', rows: 5, vocab: 4096, settings: { ...off, topP: 0.9 }, gap: 3 },
  {
    name: 'ties in many parts',
    rows: 3,
    vocab: 50_016,
    settings: { temperature: 5, topK: 30_000, topP: 0.7, minP: 0 },
    logits: 'tied',
  },
  {
    name: 'a cluster far below the best',
    rows: 3,
    vocab: 50_016,
    settings: { temperature: 10, topK: 30_000, topP: 0.7, minP: 0 },
    logits: 'cluster',
  },
  {
    name: 'a cluster far below the best, top-p',
    rows: 3,
    vocab: 50_016,
    settings: { ...off, temperature: 10, topP: 0.4 },
    logits: 'cluster',
  },
  { name: '200,064 ids, temperature', rows: 3, vocab: 200_064, settings: off },
  {
    name: '200,064 ids, all filters',
    rows: 3,
    vocab: 200_064,
    settings: { temperature: 1, topK: 1000, topP: 0.95, minP: 0.001 },
  },
  { name: '200,064 ids, top-p', rows: 2, vocab: 200_064, settings: { ...off, topP: 0.99 } },
];
