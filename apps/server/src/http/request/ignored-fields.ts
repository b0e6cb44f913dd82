import { schemaField, strictFunctions } from '../../grammar/answer-grammar.js';
import { constraintKeywords } from '../../grammar/schema-keywords.js';
import { notYet } from '../../openai/sampling-fields.js';

/**
 * Fields that say something of the caller and nothing of the answer: ignored by design, and by
 * everybody.
 */
const describing = [
  ...['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'prompt_cache_key'],
  ...['prompt_cache_retention', 'verbosity', 'prediction', 'moderation'],
];

/**
 * Fields of other servers that have a count of their own; whatever else a client makes up is
 * `other`.
 */
const counted: ReadonlySet<string> = new Set([
  ...['best_of', 'echo', 'suffix', 'early_stopping', 'length_penalty', 'no_stop_trim'],
  ...['spaces_between_special_tokens', 'add_special_tokens', 'documents', 'mm_processor_kwargs'],
  ...['kv_transfer_params', 'vllm_xargs', 'stream_reasoning', 'return_hidden_states', 'lora_path'],
  ...['session_params', 'custom_params', 'repeat_penalty', 'repeat_last_n', 'typical_p', 'top_a'],
  ...['mirostat', 'mirostat_tau', 'mirostat_eta', 'dynatemp_range', 'dry_multiplier'],
  ...['xtc_probability', 'samplers', 'cache_prompt', 'id_slot', 'n_predict', 'keep_alive'],
  ...['options', 'think', 'thinking_budget', 'reasoning', 'text', 'max_output_tokens'],
  strictFunctions,
  ...constraintKeywords.map(schemaField),
]);

/** Names in the header; a body has as many keys as it likes. */
const mostNamed = 20;

/** Which fields of a body the server read, by the shape that it was checked against. */
export function readFields(shape: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set([...Object.keys(shape), ...notYet.map(({ field }) => field), ...describing]);
}

/** Top-level fields of a body that had no effect, though their client may think so. */
export function ignoredFields(body: object, read: ReadonlySet<string>): readonly string[] {
  return Object.entries(body).flatMap(([field, value]) =>
    read.has(field) || value === undefined || value === null ? [] : [field],
  );
}

/** The label of a field's count. */
export function fieldLabel(field: string): string {
  return counted.has(field) ? field : 'other';
}

/** The fields as a header's value: names that could be none are `other`. */
export function fieldList(fields: readonly string[]): string {
  const names = fields.map((field) => (/^[\w.$-]{1,64}$/.test(field) ? field : 'other'));
  return [...new Set(names)].slice(0, mostNamed).join(', ');
}
