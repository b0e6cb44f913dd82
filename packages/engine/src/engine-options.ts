import { ParameterError } from './errors/index.js';
import { mostStopTokenIds } from './generation-parameters.js';
import type { CacheDemand, CacheSize } from './memory/cache-size.js';
import type { CausalModel, ModelFacts } from './model.js';
import { shareOf, totalOfShare } from './pages/share.js';
import type { StepWatch } from './step/step-watch.js';
import type { TokenBytes } from './stop-condition.js';

/** How an engine is made. Names follow vLLM where it has one. */
export interface EngineOptions {
  readonly model: CausalModel;
  /** Pages of the KV cache; default: as `memoryFraction` says. */
  readonly pages?: number;
  /**
   * Share of the device's memory that may be in use, above 0 and at most 1: what weights, the
   * largest steps and the graphs leave of it is the KV cache. Default 0.9 on CUDA. On the CPU,
   * where the memory is not ours alone, the default is no measurement: enough pages for
   * `maxSequences` sequences of the whole context, at most 1 GiB, but at least one sequence of a
   * given `maxModelLength`.
   */
  readonly memoryFraction?: number;
  /** Most sequences that run at the same time; default 8. */
  readonly maxSequences?: number;
  /** Most prompt tokens of a step; default 512. */
  readonly maxBatchedTokens?: number;
  /** Most prompts that share a step's prefill; default 2. */
  readonly maxPartialPrefills?: number;
  /** Longest sequence, prompt and continuation; default: the model's, or what the pages hold. */
  readonly maxModelLength?: number;
  /** Most sequences that wait while `maxSequences` run; default 256. */
  readonly maxWaiting?: number;
  /**
   * Most prompt tokens that wait; default: twice what the pages hold. One request may wait alone,
   * however long.
   */
  readonly maxWaitingTokens?: number;
  /**
   * Most tokens of one prompt in a step, so that others move on beside a long one; default 0 = no
   * limit.
   */
  readonly longPrefillTokenThreshold?: number;
  /**
   * Milliseconds that a chunk of prompts may keep decoding sequences waiting; 0 = no limit; default
   * 50.
   */
  readonly itlTargetMs?: number;
  /** `priority` lets requests have one; default `fcfs`, in order of arrival. */
  readonly schedulingPolicy?: 'fcfs' | 'priority';
  /**
   * Milliseconds after which a request that has no place yet ends in a `DeadlineError`; default 0 =
   * never.
   */
  readonly queueTimeoutMs?: number;
  /**
   * Share of the pages that the sequences of one tenant may hold, above 0 and at most 1; no
   * sequence is longer than that. Below 1 a tenant has the same share of the requests that may run
   * and wait, and of the tokens that may wait, but at least one request. Default 1.
   */
  readonly maxTenantShare?: number;
  /**
   * Told every decision of the scheduler as a line of JSON, without prompts; see `replaySchedule`.
   */
  readonly onTrace?: (line: string) => void;
  /** Milliseconds of a clock that never goes back; default `performance.now`. */
  readonly now?: () => number;
  /**
   * Rows of the decode graphs; default 1, 2, 4, 8, 16 … up to `maxSequences`. Empty = no graphs.
   */
  readonly graphSizes?: readonly number[];
  /** Most ids that a request may give a bias; default 1024. Each takes 12 bytes a sequence. */
  readonly maxLogitBias?: number;
  /** Bytes of each token id; needed for stop strings. */
  readonly tokenBytes?: TokenBytes;
  /**
   * Decide and launch a step while the one before runs; default true. Answers are the same without.
   * A step waits all the same where a grammar must know the token before, where pages are lacking,
   * and after a failure; `stats().lookAhead` counts.
   */
  readonly lookAhead?: boolean;
  /**
   * `processed`: log-probabilities that a request asks for are those of what its tokens were drawn
   * from, behind penalties, biases, grammar, temperature and filters. Each token of such a request
   * then costs a copy of a row of logits to the host and some milliseconds there. Those of prompts,
   * and of requests that ask for none, are the model's. Default `raw`: all are the model's.
   */
  readonly logprobsMode?: 'raw' | 'processed';
  /** Share pages between requests that begin with the same tokens; default true. */
  readonly prefixCaching?: boolean;
  /**
   * Check the page ledger after every step; default false: every ten seconds, see `onLedgerError`.
   */
  readonly checkLedger?: boolean;
  /** Told when the ten-second check finds books that do not balance; the engine goes on. */
  readonly onLedgerError?: (error: Error) => void;
  /** Told of every step. */
  readonly watch?: StepWatch;
  /** Called once when the engine gives up: the device is lost, or its own books do not balance. */
  readonly onFault?: (error: Error) => void;
}

/** Options with every default filled in and every value checked. */
export type SettledOptions<M extends ModelFacts = CausalModel> = Readonly<
  Required<
    Omit<
      EngineOptions,
      | 'model'
      | 'tokenBytes'
      | 'onFault'
      | 'onLedgerError'
      | 'onTrace'
      | 'pages'
      | 'memoryFraction'
      | 'maxWaitingTokens'
      | 'watch'
    >
  >
> & {
  readonly model: M;
  readonly tokenBytes: TokenBytes | undefined;
  readonly onFault: ((error: Error) => void) | undefined;
  readonly onLedgerError: ((error: Error) => void) | undefined;
  readonly onTrace: ((line: string) => void) | undefined;
  readonly watch: StepWatch | undefined;
  /** Undefined = twice what the pages hold. */
  readonly maxWaitingTokens: number | undefined;
  /** Most biases and stop tokens of a sequence. */
  readonly maxEntries: number;
  /** Pages that are known, or the share of memory to measure by. */
  readonly cache: CacheSize | { readonly fraction: number };
  readonly demand: CacheDemand;
};

/** Options of an engine on some model, whether it runs on a device or not. */
export type OptionsOn<M extends ModelFacts> = Omit<EngineOptions, 'model'> & { readonly model: M };

const policies = ['fcfs', 'priority'] as const;
const logprobsModes = ['raw', 'processed'] as const;
const mostDefaultCacheBytes = 2 ** 30;
const defaultFraction = 0.9;

/** Fills in defaults and refuses what cannot work, naming the option. */
export function settleOptions<M extends ModelFacts>(given: OptionsOn<M>): SettledOptions<M> {
  const { model } = given;
  checkKinds(given);
  const maxSequences = positive('maxSequences', given.maxSequences ?? 8);
  const maxModelLength = positive('maxModelLength', given.maxModelLength ?? model.maxPositions);
  if (maxModelLength > model.maxPositions) {
    const expected = `at most the model's ${model.maxPositions} positions`;
    throw new ParameterError({ parameter: 'maxModelLength', expected, received: maxModelLength });
  }
  const maxLogitBias = positive('maxLogitBias', given.maxLogitBias ?? 1024);
  const graphSizes = given.graphSizes ?? defaultGraphSizes(maxSequences);
  const largest = Math.max(0, ...graphSizes);
  if (graphSizes.length > 0 && largest < maxSequences) {
    const expected = `at least one size ≥ maxSequences (${maxSequences}), so that no step leaves the graphs`;
    throw new ParameterError({ parameter: 'graphSizes', expected, received: graphSizes.join(' ') });
  }
  const settled: SettledOptions<M> = {
    model,
    maxSequences,
    maxBatchedTokens: positive('maxBatchedTokens', given.maxBatchedTokens ?? 512),
    maxPartialPrefills: positive('maxPartialPrefills', given.maxPartialPrefills ?? 2),
    maxModelLength,
    maxWaiting: positive('maxWaiting', given.maxWaiting ?? 256),
    longPrefillTokenThreshold: natural(
      'longPrefillTokenThreshold',
      given.longPrefillTokenThreshold ?? 0,
    ),
    itlTargetMs: natural('itlTargetMs', given.itlTargetMs ?? 50),
    schedulingPolicy: oneOf('schedulingPolicy', given.schedulingPolicy ?? 'fcfs', policies),
    queueTimeoutMs: natural('queueTimeoutMs', given.queueTimeoutMs ?? 0),
    maxTenantShare: share('maxTenantShare', given.maxTenantShare ?? 1),
    onTrace: given.onTrace,
    watch: given.watch,
    maxWaitingTokens:
      given.maxWaitingTokens === undefined
        ? undefined
        : positive('maxWaitingTokens', given.maxWaitingTokens),
    now: given.now ?? (() => performance.now()),
    graphSizes: graphSizes.map((size) => positive('graphSizes', size)),
    maxLogitBias,
    maxEntries: maxLogitBias + mostStopTokenIds,
    tokenBytes: given.tokenBytes,
    lookAhead: given.lookAhead ?? true,
    logprobsMode: oneOf('logprobsMode', given.logprobsMode ?? 'raw', logprobsModes),
    prefixCaching: given.prefixCaching ?? true,
    checkLedger: given.checkLedger ?? false,
    onLedgerError: given.onLedgerError,
    onFault: given.onFault,
    cache: cacheRule(given, maxSequences, maxModelLength),
    demand: {
      pageBytes: model.pageBytes,
      pageTokens: model.pageTokens,
      maxSequences,
      length: maxModelLength,
      isLengthGiven: given.maxModelLength !== undefined,
      layerBytes: model.layerBytes,
    },
  };
  return 'pages' in settled.cache ? withPages(settled, settled.cache) : settled;
}

/** The same for a cache of so many pages, which may cut the length of the model. */
export function withPages<M extends ModelFacts>(
  options: SettledOptions<M>,
  cache: CacheSize,
): SettledOptions<M> {
  const { demand, model, maxTenantShare } = options;
  const { length, isLengthGiven } = demand;
  const pages = shareOf(cache.pages, maxTenantShare);
  const roomTokens = pages * model.pageTokens;
  if (isLengthGiven && length > roomTokens) {
    const whose = maxTenantShare < 1 ? ` (a tenant's share of ${cache.pages})` : '';
    const expected = `at most ${roomTokens}, what ${pages} pages${whose} of ${model.pageTokens} tokens hold`;
    throw new ParameterError({ parameter: 'maxModelLength', expected, received: length });
  }
  return { ...options, cache, maxModelLength: Math.min(length, roomTokens) };
}

const kinds = {
  boolean: ['lookAhead', 'prefixCaching', 'checkLedger'],
  function: ['tokenBytes', 'onTrace', 'now', 'onLedgerError', 'onFault'],
} as const;

/** Callers of JavaScript may pass anything. */
function checkKinds(given: Omit<EngineOptions, 'model'>): void {
  for (const [kind, names] of Object.entries(kinds)) {
    for (const parameter of names) {
      const received: unknown = given[parameter];
      if (received === undefined || typeof received === kind) continue;
      throw new ParameterError({ parameter, expected: `a ${kind}`, received });
    }
  }
  const { graphSizes } = given;
  if (graphSizes === undefined || Array.isArray(graphSizes)) return;
  const expected = 'a list of sizes';
  throw new ParameterError({ parameter: 'graphSizes', expected, received: graphSizes });
}

function cacheRule(
  given: OptionsOn<ModelFacts>,
  maxSequences: number,
  length: number,
): SettledOptions['cache'] {
  const { model, pages, memoryFraction } = given;
  if (pages !== undefined) return { pages: positive('pages', pages), why: 'given' };
  if (memoryFraction === undefined && model.runtime?.backend === 'cpu') {
    const most = `${mostDefaultCacheBytes / 2 ** 30} GiB`;
    const why = `not measured on the CPU: what the sequences could fill, at most ${most}`;
    return { pages: defaultPages(given, maxSequences, length), why };
  }
  const fraction = memoryFraction ?? defaultFraction;
  return { fraction: share('memoryFraction', fraction) };
}

function share(parameter: string, value: number): number {
  if (value > 0 && value <= 1) return value;
  throw new ParameterError({ parameter, expected: 'a number above 0, at most 1', received: value });
}

function oneOf<T extends string>(parameter: string, value: T, values: readonly T[]): T {
  if (values.includes(value)) return value;
  const expected = values.map((one) => `'${one}'`).join(' or ');
  throw new ParameterError({ parameter, expected, received: value });
}

function positive(parameter: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new ParameterError({ parameter, expected: 'a positive integer', received: value });
}

function natural(parameter: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) return value;
  throw new ParameterError({ parameter, expected: 'an integer of 0 or more', received: value });
}

/**
 * The model's own longest sequence may be far beyond this machine, so only an explicit one counts.
 */
function defaultPages(
  { model, maxModelLength, maxTenantShare = 1 }: OptionsOn<ModelFacts>,
  maxSequences: number,
  length: number,
): number {
  const perSequence = Math.ceil(length / model.pageTokens);
  const affordable = Math.floor(mostDefaultCacheBytes / model.pageBytes);
  const least = maxModelLength === undefined ? 1 : totalOfShare(perSequence, maxTenantShare);
  return Math.max(least, Math.min(perSequence * maxSequences, affordable));
}

/** The decode graphs of an engine that names none: 1, 2, 4, … and `maxSequences` itself. */
export function defaultGraphSizes(maxSequences: number): number[] {
  const sizes: number[] = [];
  for (let size = 1; size < maxSequences; size *= 2) sizes.push(size);
  return [...sizes, maxSequences];
}
