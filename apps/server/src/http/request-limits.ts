import { fieldError } from '../openai/parse-body.js';
import type { SamplingFields } from '../openai/sampling-fields.js';
import type { HttpSettings, ServerContext } from '../server-context.js';

/** A body whose fields may be anything. */
type Unchecked = Readonly<Record<string, unknown>>;

/** Refuses more prompts than the operator allows, before any is looked at. */
export function checkPromptCount(body: unknown, { limits }: HttpSettings): void {
  const { prompt } = (body ?? {}) as Unchecked;
  const isList = Array.isArray(prompt) && typeof prompt[0] !== 'number';
  checkMost('prompt', isList ? prompt.length : 0, limits.prompts, '--max-prompt-batch');
}

/** Refuses more stops and biases than the operator allows, before any is looked at. */
export function checkCounts(body: unknown, { limits }: HttpSettings): void {
  const { stop, logit_bias: biases } = (body ?? {}) as Unchecked;
  checkMost(
    'stop',
    Array.isArray(stop) ? stop.length : 0,
    limits.stopStrings,
    '--max-stop-strings',
  );
  const ids = typeof biases === 'object' ? Object.keys(biases ?? {}) : [];
  checkMost('logit_bias', ids.length, limits.logitBiases, '--max-logit-bias');
}

/**
 * Refuses more choices than could ever be under way together: to come back later would not help.
 */
export function checkChoices(
  { info, settings: { limits } }: ServerContext,
  prompts: number,
  fields: SamplingFields,
): void {
  const n = fields.n ?? 1;
  checkMost('n', n, limits.n, '--max-n');
  if (!info || prompts * n <= info.maxTenantRequests) return;
  const { maxSequences, maxWaiting, maxTenantRequests } = info;
  const isShare = maxTenantRequests < maxSequences + maxWaiting;
  const most = isShare
    ? `a tenant has ${maxTenantRequests} at most; send fewer, or raise --max-tenant-kv-share`
    : `${maxSequences} run and ${maxWaiting} wait at most; send fewer, or raise --max-num-queued-reqs`;
  throw fieldError(n > 1 ? 'n' : 'prompt', `${prompts * n} choices at once, but ${most}`);
}

/** Refuses stop tokens and biases of tokens that the model cannot generate. */
export function checkTokens(
  { info, settings: { limits } }: ServerContext,
  fields: SamplingFields & Partial<Record<'logprobs' | 'top_logprobs', unknown>>,
): void {
  const { vocabSize = Number.POSITIVE_INFINITY } = info ?? {};
  const check = (id: number, param: string): void => {
    if (id < vocabSize) return;
    throw fieldError(param, `token id ${id} is outside the vocabulary of ${vocabSize}`);
  };
  fields.stop_token_ids?.forEach((id, index) => {
    check(id, `stop_token_ids[${index}]`);
  });
  for (const field of ['logprobs', 'top_logprobs'] as const) {
    checkMost(field, Number(fields[field] ?? 0), limits.logprobs, '--max-logprobs');
  }
  for (const id of Object.keys(fields.logit_bias ?? {})) check(Number(id), `logit_bias.${id}`);
}

function checkMost(param: string, received: number, most: number, flag: string): void {
  if (received <= most) return;
  throw fieldError(param, `received ${received}, this server takes at most ${most} (${flag})`);
}
