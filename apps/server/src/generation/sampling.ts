import type { ChoiceGrammar } from '../grammar/grammar.js';
import type { SamplingFields } from '../openai/sampling-fields.js';
import type { WireParameters } from '../worker/messages.js';

/** Sampling defaults of the checkpoint's generation_config.json. */
export interface GenerationDefaults {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly minP?: number;
  /** Ids that end a sequence. */
  readonly eosTokenIds: readonly number[];
}

/** Limits that a route adds to the request's own sampling fields. */
export interface RouteLimits {
  readonly maxTokens: number | undefined;
  readonly logprobs: number | undefined;
  readonly promptLogprobs?: number | undefined;
  readonly cacheSalt?: string | undefined;
  readonly tenant?: string | undefined;
  readonly priority?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly grammar?: ChoiceGrammar | undefined;
}

/** What a request's sampling depends on beside its fields. */
interface SamplingSettings {
  readonly defaults: GenerationDefaults;
  readonly limits: RouteLimits;
  readonly never?: readonly number[];
  readonly vocabSize?: number | undefined;
}

const mostBias = 100;
const greedyBelow = 1e-5;
/** Above any vocabulary: the same as all tokens. */
const mostTopK = 2 ** 31 - 1;

/**
 * Engine parameters of choice `index` of a request: fields of the request, else of the checkpoint.
 *
 * @param settings `never`: ids that may not be drawn; `vocabSize`: the model's, if it is known:
 *   what a checkpoint ends with beyond it is never drawn, and no id of the engine
 */
export function samplingParameters(
  fields: SamplingFields,
  index: number,
  { defaults, limits, never = [], vocabSize = Number.POSITIVE_INFINITY }: SamplingSettings,
): WireParameters {
  const temperature = fields.temperature ?? defaults.temperature ?? 1;
  const topK = fields.top_k ?? defaults.topK ?? 0;
  const ends = fields.ignore_eos ? [] : defaults.eosTokenIds.filter((id) => id < vocabSize);
  return definedOnly({
    temperature: temperature < greedyBelow ? 0 : temperature,
    topP: fields.top_p ?? defaults.topP ?? 1,
    topK: Math.min(Math.max(0, topK), mostTopK),
    minP: fields.min_p ?? defaults.minP ?? 0,
    frequencyPenalty: fields.frequency_penalty ?? undefined,
    presencePenalty: fields.presence_penalty ?? undefined,
    repetitionPenalty: fields.repetition_penalty ?? undefined,
    logitBias: biasesOf(fields.logit_bias, never),
    seed: fields.seed == null ? undefined : choiceSeed(fields.seed, index),
    stopTokenIds: [...ends, ...(fields.stop_token_ids ?? [])],
    minTokens: fields.min_tokens ?? 0,
    ...limits,
  });
}

/** Stop strings of a request as a list. */
export function stopStrings({ stop }: SamplingFields): readonly string[] {
  if (stop === undefined || stop === null) return [];
  return typeof stop === 'string' ? [stop] : stop;
}

/** Beyond ±100 a bias decides alone, so more is the same. */
function biasesOf(
  bias: SamplingFields['logit_bias'],
  never: readonly number[],
): ReadonlyMap<number, number> | undefined {
  const biases = new Map(
    Object.entries(bias ?? {}).map(([id, value]) => [
      Number(id),
      Math.min(Math.max(value, -mostBias), mostBias),
    ]),
  );
  for (const id of never) biases.set(id, Number.NEGATIVE_INFINITY);
  return biases.size > 0 ? biases : undefined;
}

/** The first choice uses the seed itself; the others get their own, far from it and each other. */
function choiceSeed(seed: number, index: number): bigint {
  const base = BigInt(Math.trunc(seed));
  return BigInt.asIntN(64, base + BigInt(index) * 0x9e3779b97f4a7c15n);
}

function definedOnly<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
