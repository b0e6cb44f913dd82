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

/** Refuses stop tokens that the model cannot generate. */
export function checkStopTokens({ info }: ServerContext, fields: SamplingFields): void {
  const { vocabSize = Number.POSITIVE_INFINITY } = info ?? {};
  fields.stop_token_ids?.forEach((id, index) => {
    if (id < vocabSize) return;
    const problem = `token id ${id} is outside the vocabulary of ${vocabSize}`;
    throw fieldError(`stop_token_ids[${index}]`, problem);
  });
}
