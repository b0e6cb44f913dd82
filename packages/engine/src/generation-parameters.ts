import { ParameterError } from './errors/index.js';
import type { GrammarMatcher } from './grammar/grammar-matcher.js';

/** How to continue a prompt. All fields are optional. */
export interface GenerationParameters {
  /** Most tokens to generate; default: as many as the context allows. */
  readonly maxTokens?: number;
  /** 0 = the most likely token; default 1. */
  readonly temperature?: number;
  /** Keep the k most likely tokens; 0 = all (default). */
  readonly topK?: number;
  /** Keep the smallest set of tokens with this much probability, in (0, 1]; default 1. */
  readonly topP?: number;
  /** Drop tokens below this share of the best one's probability, in [0, 1]; default 0. */
  readonly minP?: number;
  /** Taken off a token's logit for each time it was generated, −2 to 2; default 0. */
  readonly frequencyPenalty?: number;
  /** Taken off a token's logit if it was generated, −2 to 2; default 0. */
  readonly presencePenalty?: number;
  /**
   * Divides positive and multiplies negative logits of tokens of prompt and answer, in (0, 2];
   * default 1.
   */
  readonly repetitionPenalty?: number;
  /**
   * Added to the logits of token ids, after penalties, −100 to 100; −Infinity = never drawn.
   * Default none.
   */
  readonly logitBias?: ReadonlyMap<number, number>;
  /** Seed of the request's own random numbers; default: drawn at random. */
  readonly seed?: bigint | number;
  /** Ids that end the sequence, at most 256; they are reported, not delivered. Default none. */
  readonly stopTokenIds?: readonly number[];
  /** Texts that end the sequence; needs the engine option `tokenBytes`. Default none. */
  readonly stopStrings?: readonly string[];
  /** Tokens before which no stop token is drawn and no stop string applies; default 0. */
  readonly minTokens?: number;
  /** Go on after stop tokens; default false. */
  readonly ignoreEos?: boolean;
  /**
   * Best alternatives to report for each token, up to 256 and the vocabulary; undefined = no
   * logprobs (default). Of which logits: `EngineOptions.logprobsMode`.
   */
  readonly logprobs?: number;
  /** The same for the prompt's tokens, always under the model; undefined = none (default). */
  readonly promptLogprobs?: number;
  /** Requests with different salts share no pages of the prefix cache; default: one for all. */
  readonly cacheSalt?: string;
  /**
   * Lower comes sooner; other than 0 needs the engine option `schedulingPolicy: 'priority'`.
   * Default 0.
   */
  readonly priority?: number;
  /** Who pays: tenants take turns. Default: one for all. */
  readonly tenant?: string;
  /** Milliseconds from now in which the request must end; default: as long as it takes. */
  readonly timeoutMs?: number;
  /** Says which tokens may come next; the request's own, which disposes it. Default none. */
  readonly grammar?: GrammarMatcher;
  /** Gives the request up; its pages are free within one step. */
  readonly signal?: AbortSignal;
}

/** Parameters with every default filled in and every value in range. */
export interface SettledParameters {
  readonly maxTokens: number | undefined;
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly repetitionPenalty: number;
  readonly logitBias: ReadonlyMap<number, number>;
  readonly seed: bigint;
  readonly stopTokenIds: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
  readonly minTokens: number;
  readonly logprobs: number | undefined;
  readonly promptLogprobs: number | undefined;
  readonly cacheSalt: string | undefined;
  readonly priority: number;
  readonly tenant: string;
  readonly timeoutMs: number | undefined;
  readonly grammar: GrammarMatcher | undefined;
}

/** Stop tokens of a request. */
export const mostStopTokenIds = 256;
/** Alternatives of a token that the kernel finds. */
const mostLogprobs = 256;
/** A year. */
const mostMs = 366 * 24 * 3600 * 1000;

/** What the engine's model and options allow. */
export interface ParameterLimits {
  readonly vocabSize: number;
  readonly maxLogitBias: number;
}

/** Fills in defaults and refuses what is out of range, naming the parameter. */
export function settleParameters(
  given: GenerationParameters,
  limits: ParameterLimits = { vocabSize: 2 ** 31 - 1, maxLogitBias: 1024 },
): SettledParameters {
  checkSignal(given.signal);
  return {
    maxTokens: given.maxTokens === undefined ? undefined : integer('maxTokens', given.maxTokens, 1),
    temperature: number('temperature', given.temperature ?? 1, 0, 100),
    topK: integer('topK', given.topK ?? 0, 0),
    topP: number('topP', given.topP ?? 1, Number.MIN_VALUE, 1),
    minP: number('minP', given.minP ?? 0, 0, 1),
    frequencyPenalty: number('frequencyPenalty', given.frequencyPenalty ?? 0, -2, 2),
    presencePenalty: number('presencePenalty', given.presencePenalty ?? 0, -2, 2),
    repetitionPenalty: number(
      'repetitionPenalty',
      given.repetitionPenalty ?? 1,
      Number.MIN_VALUE,
      2,
    ),
    logitBias: biasOf(given.logitBias ?? new Map(), limits),
    seed: seedOf(given.seed),
    stopTokenIds: stopTokensOf(given, limits),
    stopStrings: stopStringsOf(given.stopStrings ?? []),
    minTokens: integer('minTokens', given.minTokens ?? 0, 0),
    logprobs: count('logprobs', given.logprobs, limits),
    promptLogprobs: count('promptLogprobs', given.promptLogprobs, limits),
    cacheSalt: saltOf(given.cacheSalt),
    priority: integer('priority', given.priority ?? 0, -(2 ** 31)),
    tenant: tenantOf(given.tenant ?? ''),
    timeoutMs:
      given.timeoutMs === undefined ? undefined : number('timeoutMs', given.timeoutMs, 0, mostMs),
    grammar: grammarOf(given.grammar),
  };
}

/** What has the events of one will do: those of another window or library are none of ours. */
function checkSignal(signal: unknown): void {
  if (signal === undefined || isSignal(signal)) return;
  throw new ParameterError({ parameter: 'signal', expected: 'an AbortSignal', received: signal });
}

function isSignal(signal: unknown): boolean {
  if (typeof signal !== 'object' || signal === null) return false;
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignal>;
  const listens = typeof addEventListener === 'function';
  return typeof aborted === 'boolean' && listens && typeof removeEventListener === 'function';
}

function number(parameter: string, value: number, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  const from = least === Number.MIN_VALUE ? 'above 0' : `from ${least}`;
  throw new ParameterError({ parameter, expected: `a number ${from} to ${most}`, received: value });
}

function integer(parameter: string, value: number, least: number, most = 2 ** 31 - 1): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  const expected = `an integer from ${least} to ${most}`;
  throw new ParameterError({ parameter, expected, received: value });
}

function count(
  parameter: string,
  value: number | undefined,
  { vocabSize }: ParameterLimits,
): number | undefined {
  const most = Math.min(mostLogprobs, vocabSize);
  return value === undefined ? undefined : integer(parameter, value, 0, most);
}

function biasOf(
  bias: ReadonlyMap<number, number>,
  { vocabSize, maxLogitBias }: ParameterLimits,
): ReadonlyMap<number, number> {
  if (!(bias instanceof Map)) {
    const expected = 'a Map of token ids and biases';
    throw new ParameterError({ parameter: 'logitBias', expected, received: bias });
  }
  if (bias.size > maxLogitBias) {
    const expected = `at most ${maxLogitBias} ids`;
    throw new ParameterError({ parameter: 'logitBias', expected, received: bias.size });
  }
  for (const [id, value] of bias) {
    integer('logitBias', id, 0, vocabSize - 1);
    if (value !== Number.NEGATIVE_INFINITY) number('logitBias', value, -100, 100);
  }
  return new Map(bias);
}

function stopTokensOf(
  { ignoreEos, stopTokenIds }: GenerationParameters,
  { vocabSize }: ParameterLimits,
): ReadonlySet<number> {
  const parameter = 'stopTokenIds';
  const ids: unknown = stopTokenIds ?? [];
  if (!Array.isArray(ids)) {
    throw new ParameterError({ parameter, expected: 'a list of token ids', received: ids });
  }
  const stops = new Set(ids.map((id) => integer(parameter, id, 0, vocabSize - 1)));
  if (ignoreEos) return new Set();
  if (stops.size <= mostStopTokenIds) return stops;
  const expected = `at most ${mostStopTokenIds} ids`;
  throw new ParameterError({ parameter, expected, received: stops.size });
}

function tenantOf(tenant: string): string {
  if (typeof tenant === 'string') return tenant;
  throw new ParameterError({ parameter: 'tenant', expected: 'a text', received: tenant });
}

function grammarOf(grammar: GrammarMatcher | undefined): GrammarMatcher | undefined {
  if (grammar === undefined) return undefined;
  const { accept, mask, dispose }: Partial<GrammarMatcher> = Object(grammar);
  if ([accept, mask, dispose].every((part) => typeof part === 'function')) return grammar;
  const expected = 'a GrammarMatcher';
  throw new ParameterError({ parameter: 'grammar', expected, received: grammar });
}

/** A seed is any 64-bit pattern; without one each request gets its own. */
function seedOf(seed: bigint | number | undefined): bigint {
  if (seed === undefined) {
    return BigInt.asIntN(64, crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n);
  }
  if (typeof seed === 'bigint') return BigInt.asIntN(64, seed);
  if (Number.isInteger(seed)) return BigInt.asIntN(64, BigInt(seed));
  throw new ParameterError({ parameter: 'seed', expected: 'an integer', received: seed });
}

function saltOf(salt: string | undefined): string | undefined {
  if (salt === undefined || (typeof salt === 'string' && salt !== '')) return salt;
  const expected = 'a text of at least one character';
  throw new ParameterError({ parameter: 'cacheSalt', expected, received: salt });
}

function stopStringsOf(strings: readonly string[]): readonly string[] {
  const isText = (text: unknown): boolean => typeof text === 'string' && text !== '';
  if (Array.isArray(strings) && strings.every(isText)) return strings;
  const expected = 'a list of strings of at least one character';
  throw new ParameterError({ parameter: 'stopStrings', expected, received: strings });
}
