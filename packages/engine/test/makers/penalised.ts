import type { GenerationParameters } from '../../src/index.js';
import { smoothLogits, vocab } from './counting.js';

const { fround } = Math;

/** What the smooth model gives greedily under penalties and biases, from first principles. */
export function penalisedIds(
  prompt: readonly number[],
  parameters: GenerationParameters,
  count: number,
): number[] {
  const { repetitionPenalty = 1, frequencyPenalty = 0, presencePenalty = 0 } = parameters;
  const { logitBias = new Map<number, number>(), minTokens = 0, stopTokenIds = [] } = parameters;
  const generated: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const last = generated.at(-1) ?? prompt.at(-1) ?? 0;
    const logits = Array.from(
      smoothLogits.subarray(last * vocab, (last + 1) * vocab),
      (raw, id) => {
        const times = generated.filter((one) => one === id).length;
        let logit = raw;
        if (times > 0 || prompt.includes(id)) {
          const factor = fround(repetitionPenalty);
          logit = fround(raw > 0 ? raw / factor : raw * factor);
        }
        if (times > 0) logit = fround(logit - fround(fround(frequencyPenalty) * times));
        if (times > 0) logit = fround(logit - fround(presencePenalty));
        logit = fround(logit + fround(logitBias.get(id) ?? 0));
        return n < minTokens && stopTokenIds.includes(id) ? Number.NEGATIVE_INFINITY : logit;
      },
    );
    const best = logits.indexOf(Math.max(...logits));
    if (stopTokenIds.includes(best)) break;
    generated.push(best);
  }
  return generated;
}

/** log-softmax of the smooth model's own logits after `last`, at `id`. */
export function rawLogprob(last: number, id: number): number {
  const logits = Array.from(smoothLogits.subarray(last * vocab, (last + 1) * vocab));
  const sum = logits.reduce((all, logit) => all + Math.exp(logit), 0);
  return (logits[id] ?? 0) - Math.log(sum);
}
