import type { TokenLogprob } from '../generation-event.js';
import type { RowLogprobs } from '../sampler.js';
import { comesBefore, selectLeading } from './leading-ids.js';

/** How a row is drawn, and what of it is wanted. */
export interface ProcessedRow {
  /** 0 or below = the largest logit, without filters. */
  readonly temperature: number;
  /** 0 = off. */
  readonly topK: number;
  /** 1 = off. */
  readonly topP: number;
  /** 0 = off. */
  readonly minP: number;
  /** Bits of the ids that a grammar allows; undefined = all. */
  readonly mask?: Int32Array | undefined;
  /** The id that was drawn. */
  readonly id: number;
  /** Best alternatives wanted, at most the vocabulary. */
  readonly count: number;
}

/** Logits as they are drawn from, and the ids that may be. */
interface Weighed {
  /** f32 [vocab]: no NaN, no infinity above. */
  readonly logits: Float32Array;
  /** Ids whose logit is above −∞ and that the mask allows. */
  readonly possible: Int32Array;
  /** f32 [vocab], at possible ids: (logit − largest) ÷ temperature. */
  readonly scaled: Float32Array;
}

const largestFloat = 3.4028234663852886e38;
const { fround } = Math;

/**
 * Log-probabilities of what a token was drawn from: mask, temperature, top-k, top-p and min-p as
 * the sampling kernel has them (its `docs/sampling.md`), then log-softmax over what these leave.
 * What is removed has −Infinity. At a temperature of 0 the largest logit is drawn; there is no
 * filter then, and the values are those of temperature 1.
 *
 * The kernel's sums may differ in their last bits, so that top-p or min-p end at another id than
 * here; the drawn id and all that come before it were kept in any case.
 *
 * @param logits f32 [vocab], with penalties, biases and bans; NaN = −∞
 * @returns at the drawn id, and at the `count` likeliest ones: ties to the lower id, removed ids
 * last. NaN if there is nothing to draw from
 */
export function processedLogprobs(logits: Float32Array, row: ProcessedRow): RowLogprobs {
  const { id, count } = row;
  const weighed = weigh(logits, row);
  if (weighed.possible.length === 0) {
    const top = Array.from({ length: count }, (_, other) => ({ id: other, logprob: Number.NaN }));
    return { logprob: Number.NaN, top };
  }
  const { scaled } = weighed;
  const kept = keptIds(weighed, row);
  let sum = 0;
  for (const one of kept) sum += Math.exp(scaled[one] ?? 0);
  const logSum = Math.log(sum);
  const logprobOf = (one: number): number => fround((scaled[one] ?? 0) - logSum);
  const logprob = kept.includes(id) ? logprobOf(id) : Number.NEGATIVE_INFINITY;
  const best = bestOf(weighed.logits, kept, count);
  const top = Array.from(best, (one): TokenLogprob => ({ id: one, logprob: logprobOf(one) }));
  return { logprob, top: [...top, ...removedIds(best, count)] };
}

function weigh(raw: Float32Array, { temperature, mask }: ProcessedRow): Weighed {
  const logits = new Float32Array(raw.length);
  const ids = new Int32Array(raw.length);
  let count = 0;
  let largest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < raw.length; id += 1) {
    const isAllowed = mask === undefined || ((mask[id >> 5] ?? 0) & (1 << (id & 31))) !== 0;
    const logit = Math.min(raw[id] ?? 0, largestFloat);
    // Neither of NaN nor of −∞.
    if (!isAllowed || !(logit > Number.NEGATIVE_INFINITY)) continue;
    logits[id] = logit;
    ids[count] = id;
    count += 1;
    if (logit > largest) largest = logit;
  }
  const possible = ids.subarray(0, count);
  const scaled = new Float32Array(raw.length);
  const divisor = isGreedy(temperature) ? 1 : fround(temperature);
  for (const id of possible) scaled[id] = fround((logits[id] ?? 0) - largest) / divisor;
  return { logits, possible, scaled };
}

/** Whether the kernel, whose temperatures are f32, takes the largest logit. */
function isGreedy(temperature: number): boolean {
  return !(fround(temperature) > 0);
}

/** What top-k, top-p and min-p leave, one behind the other; permutes the possible ids. */
function keptIds({ logits, possible, scaled }: Weighed, row: ProcessedRow): Int32Array {
  if (isGreedy(row.temperature)) return possible;
  const [topP, minP] = [fround(row.topP), Math.min(fround(row.minP), 1)];
  let kept = possible;
  const keep = (target: number, measureOf: (id: number) => number): void => {
    kept = kept.subarray(0, selectLeading(logits, kept, target, measureOf));
  };
  if (row.topK > 0 && row.topK < kept.length) keep(row.topK, () => 1);
  if (topP < 1 || minP > 0) {
    const weights = new Float32Array(logits.length);
    let sum = 0;
    for (const id of kept) {
      const weight = fround(Math.exp(scaled[id] ?? 0));
      weights[id] = weight;
      sum += weight;
    }
    const weightOf = (id: number): number => weights[id] ?? 0;
    if (topP < 1) keep(topP * sum, weightOf);
    if (minP > 0) kept = kept.filter((id) => weightOf(id) >= minP);
  }
  if (kept.includes(row.id) || !possible.includes(row.id)) return kept;
  return possible.filter((id) => !comesBefore(logits, row.id, id));
}

/** The likeliest ids in their order; permutes `kept`. */
function bestOf(logits: Float32Array, kept: Int32Array, count: number): Int32Array {
  if (count === 0) return kept.subarray(0, 0);
  const best = kept.subarray(
    0,
    selectLeading(logits, kept, count, () => 1),
  );
  return best.sort((a, b) => (comesBefore(logits, a, b) ? -1 : 1));
}

/** The lowest ids beside the best ones, for a list of `count`. */
function removedIds(best: Int32Array, count: number): TokenLogprob[] {
  const removed: TokenLogprob[] = [];
  for (let id = 0; best.length + removed.length < count; id += 1) {
    if (!best.includes(id)) removed.push({ id, logprob: Number.NEGATIVE_INFINITY });
  }
  return removed;
}
