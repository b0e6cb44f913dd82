import type { GenerationParameters } from '../../src/index.js';
import { smoothLogits, vocab } from './counting.js';

const { fround } = Math;

/** What the smooth model gives greedily under penalties and biases, from first principles. */
export function penalisedIds(
  prompt: readonly number[],
  parameters: GenerationParameters,
  count: number,
): number[] {
  const { stopTokenIds = [] } = parameters;
  const generated: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const logits = changedLogits(prompt, generated, parameters);
    const best = logits.indexOf(Math.max(...logits));
    if (stopTokenIds.includes(best)) break;
    generated.push(best);
  }
  return generated;
}

/** Logits of the smooth model for the next token under penalties, biases and bans. */
export function changedLogits(
  prompt: readonly number[],
  generated: readonly number[],
  parameters: GenerationParameters,
): Float32Array {
  const { repetitionPenalty = 1, frequencyPenalty = 0, presencePenalty = 0 } = parameters;
  const { logitBias = new Map<number, number>(), minTokens = 0, stopTokenIds = [] } = parameters;
  const last = generated.at(-1) ?? prompt.at(-1) ?? 0;
  return smoothLogits.slice(last * vocab, (last + 1) * vocab).map((raw, id) => {
    const times = generated.filter((one) => one === id).length;
    let logit = raw;
    if (times > 0 || prompt.includes(id)) {
      const factor = fround(repetitionPenalty);
      logit = fround(raw > 0 ? raw / factor : raw * factor);
    }
    if (times > 0) logit = fround(logit - fround(fround(frequencyPenalty) * times));
    if (times > 0) logit = fround(logit - fround(presencePenalty));
    logit = fround(logit + fround(logitBias.get(id) ?? 0));
    const isBanned = generated.length < minTokens && stopTokenIds.includes(id);
    return isBanned ? Number.NEGATIVE_INFINITY : logit;
  });
}

/** log-softmax of the smooth model's own logits after `last`, at `id`. */
export function rawLogprob(last: number, id: number): number {
  const logits = Array.from(smoothLogits.subarray(last * vocab, (last + 1) * vocab));
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  return (logits[id] ?? 0) - Math.log(sum);
}
