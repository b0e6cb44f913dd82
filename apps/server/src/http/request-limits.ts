import { mostLogitBiases } from '../generation/sampling.js';
import { fieldError } from '../openai/parse-body.js';
import type { SamplingFields } from '../openai/sampling-fields.js';
import type { ServerContext } from '../server-context.js';

/** Refuses more choices than could ever be under way together: to come back later would not help. */
export function checkChoices(
  { info }: ServerContext,
  prompts: number,
  fields: SamplingFields,
): void {
  const n = fields.n ?? 1;
  if (!info || prompts * n <= info.maxSequences + info.maxWaiting) return;
  const { maxSequences, maxWaiting } = info;
  throw fieldError(
    n > 1 ? 'n' : 'prompt',
    `${prompts * n} choices at once, but ${maxSequences} run and ${maxWaiting} wait at most; ` +
      'send fewer, or raise --max-num-queued-reqs',
  );
}

/** Refuses stop tokens and biases of tokens that the model cannot generate, and too many biases. */
export function checkTokens({ info }: ServerContext, fields: SamplingFields): void {
  const { vocabSize = Number.POSITIVE_INFINITY } = info ?? {};
  const check = (id: number, param: string): void => {
    if (id < vocabSize) return;
    throw fieldError(param, `token id ${id} is outside the vocabulary of ${vocabSize}`);
  };
  fields.stop_token_ids?.forEach((id, index) => {
    check(id, `stop_token_ids[${index}]`);
  });
  const biases = Object.keys(fields.logit_bias ?? {});
  if (biases.length > mostLogitBiases) {
    throw fieldError('logit_bias', `${biases.length} tokens, at most ${mostLogitBiases}`);
  }
  for (const id of biases) check(Number(id), `logit_bias.${id}`);
}
