import type { Attributes } from '@opentelemetry/api';
import type { RequestContent } from '../log/request-content.js';
import type { RequestFacts } from './request-facts.js';

/**
 * vLLM's names, with those of the semantic conventions beside them; what is not known is left out.
 */
export function attributesOf(facts: RequestFacts): Attributes {
  const { id, model, asked, summary, timing } = facts;
  const { promptTokens, generatedTokens, outcome, code } = summary;
  const { queueMs, ttftMs, prefillMs, decodeMs, totalMs } = timing;
  return {
    'gen_ai.system': 'altstream',
    'gen_ai.request.id': id,
    'gen_ai.request.model': model,
    'gen_ai.response.model': model,
    ...known('gen_ai.request.n', asked.n),
    ...known('gen_ai.request.max_tokens', asked.maxTokens),
    ...known('gen_ai.request.temperature', asked.temperature),
    ...known('gen_ai.request.top_p', asked.topP),
    'gen_ai.usage.prompt_tokens': promptTokens,
    'gen_ai.usage.completion_tokens': generatedTokens,
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.output_tokens': generatedTokens,
    'gen_ai.response.finish_reasons': [outcome],
    ...known('error.type', code),
    ...seconds('gen_ai.latency.time_in_queue', queueMs),
    ...seconds('gen_ai.latency.time_to_first_token', ttftMs),
    ...seconds('gen_ai.latency.time_in_model_prefill', prefillMs),
    ...seconds('gen_ai.latency.time_in_model_decode', decodeMs),
    ...seconds('gen_ai.latency.e2e', totalMs),
  };
}

/** Texts, and whether some found no room. */
export function contentAttributes({ prompts, answers, isCut }: RequestContent): Attributes {
  return {
    'gen_ai.prompt': [...prompts],
    'gen_ai.completion': answers.map((answer) => JSON.stringify(answer)),
    'altstream.content.is_cut': isCut,
  };
}

function known(name: string, value: number | string | undefined): Attributes {
  return value === undefined ? {} : { [name]: value };
}

function seconds(name: string, ms: number | null): Attributes {
  return ms === null ? {} : { [name]: ms / 1000 };
}
