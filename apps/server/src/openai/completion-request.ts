import { z } from 'zod';
import { grammarFields } from '../grammar/grammar-fields.js';
import { checkMinTokens, fieldError, parseBody } from './parse-body.js';
import { samplingFields } from './sampling-fields.js';
import { checkStreamOptions } from './usage.stream.js';

const tokenIds = z.array(z.int().min(0));
/** The shape of a completion request. */
export const completionBody = z.looseObject({
  ...samplingFields,
  ...grammarFields,
  prompt: z.union([z.string(), z.array(z.string()), tokenIds, z.array(tokenIds)], {
    error: ({ input }) =>
      `expected text, token ids, or a list of those, received ${received(input)}`,
  }),
  max_tokens: z.int().min(0).nullish(),
  logprobs: z.int().min(0).nullish(),
  echo: z.boolean().nullish(),
  best_of: z.int().min(1).max(20).nullish(),
  suffix: z.string().nullish(),
});

function received(prompt: unknown): string {
  if (Array.isArray(prompt)) return 'a list of other things';
  return prompt === null ? 'null' : typeof prompt;
}

/** A prompt of one choice: text, or token ids. */
export type CompletionPrompt = string | readonly number[];

/** A body of `POST /v1/completions`, checked. */
export type CompletionRequest = z.infer<typeof completionBody>;

/** Parses and checks a completion request; every problem is a 400 that names its field. */
export function parseCompletionRequest(body: unknown): CompletionRequest {
  const request = parseBody(completionBody, body);
  const prompts = promptsOf(request);
  if (prompts.length === 0 || prompts.some((one) => one.length === 0)) {
    throw fieldError('prompt', 'is empty, expected at least one character or token id');
  }
  if (request.suffix) {
    throw fieldError('suffix', 'the model was not trained to fill in', 'unsupported_parameter');
  }
  if (request.best_of != null && request.best_of !== (request.n ?? 1)) {
    throw fieldError('best_of', 'only `best_of` equal to `n` is supported', 'unsupported_value');
  }
  if (request.max_tokens === 0 && !request.echo) {
    throw fieldError('max_tokens', '0 is only allowed with `echo: true`');
  }
  checkMinTokens(request, request.max_tokens);
  checkStreamOptions(request);
  return request;
}

/** The prompts of a request, however it has them. */
export function promptsOf({
  prompt,
}: Pick<CompletionRequest, 'prompt'>): readonly CompletionPrompt[] {
  if (typeof prompt === 'string') return [prompt];
  if (prompt.length === 0) return [];
  return typeof prompt[0] === 'number'
    ? [prompt as readonly number[]]
    : (prompt as readonly CompletionPrompt[]);
}
