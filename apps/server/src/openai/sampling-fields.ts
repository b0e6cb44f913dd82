import { z } from 'zod';
import { idPattern, idRule } from './request-id.js';

/** A token id as a key of JSON. */
const tokenId = z.string().regex(/^(0|[1-9]\d{0,9})$/, 'expected token ids as keys');
/** Of one stop text. */
const mostStopCharacters = 256;
const stopError = { error: ({ input }: { readonly input?: unknown }) => stopProblem(input) };
const stopText = z.string().min(1, stopError).max(mostStopCharacters, stopError);

const requestId = z.string().regex(idPattern, `expected ${idRule}`).nullish();

/**
 * Fields that chat and text completions share; names and ranges are OpenAI's, extensions are
 * vLLM's.
 */
export const samplingFields = {
  model: z.string(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  seed: z.number().refine(Number.isInteger, 'expected an integer').nullish(),
  stop: z.union([stopText, z.array(stopText)], stopError).nullish(),
  stop_token_ids: z.array(z.int().min(0)).max(128).nullish(),
  include_stop_str_in_output: z.boolean().nullish(),
  ignore_eos: z.boolean().nullish(),
  min_tokens: z.int().min(0).nullish(),
  skip_special_tokens: z.boolean().nullish(),
  n: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .looseObject({
      include_usage: z.boolean().nullish(),
      continuous_usage_stats: z.boolean().nullish(),
    })
    .nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
  cache_salt: z.string().min(1, 'expected at least one character').max(256).nullish(),
  request_id: requestId,
  rid: requestId,
  priority: z
    .int()
    .min(-(2 ** 31))
    .max(2 ** 31 - 1)
    .nullish(),
  timings_per_token: z.boolean().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  repetition_penalty: z.number().gt(0).max(2).nullish(),
  logit_bias: z.record(tokenId, z.number()).nullish(),
} as const;

/** The shared fields, parsed. */
export type SamplingFields = z.infer<z.ZodObject<typeof samplingFields>>;

/** A field whose neutral value is accepted and whose other values this release cannot honour. */
interface NotYet {
  readonly field: string;
  readonly isNeutral: (value: unknown) => boolean;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const isAbsentOr =
  (neutral: unknown) =>
  (value: unknown): boolean =>
    isAbsent(value) || value === neutral;

/** What would change the answer if it were ignored, so it is refused instead. */
export const notYet: readonly NotYet[] = [
  { field: 'guided_json', isNeutral: isAbsent },
  { field: 'guided_regex', isNeutral: isAbsent },
  { field: 'guided_choice', isNeutral: isAbsent },
  { field: 'stop_regex', isNeutral: isAbsent },
  { field: 'use_beam_search', isNeutral: isAbsentOr(false) },
  { field: 'truncate_prompt_tokens', isNeutral: isAbsent },
  { field: 'allowed_token_ids', isNeutral: isAbsent },
  { field: 'bad_words', isNeutral: isAbsent },
  { field: 'prompt_logprobs', isNeutral: isAbsent },
  { field: 'return_token_ids', isNeutral: isAbsentOr(false) },
  { field: 'separate_reasoning', isNeutral: isAbsentOr(true) },
  { field: 'add_generation_prompt', isNeutral: isAbsentOr(true) },
  { field: 'continue_final_message', isNeutral: isAbsentOr(false) },
];

/** What is wrong with a `stop` of a request, or a text of it, but for how many texts it has. */
function stopProblem(stop: unknown): string {
  if (!Array.isArray(stop)) return `${expected}, or a list of such; received ${received(stop)}`;
  const wrong = stop.findIndex((text) => typeof text !== 'string');
  return `${expected} at [${wrong}], received ${received(stop[wrong])}`;
}

const expected = `expected a text of 1 … ${mostStopCharacters} characters`;

function received(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty one' : `one of ${value.length}`;
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value;
}
