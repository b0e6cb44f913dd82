import type { ChatTokenizer } from '@altstream/minimax-m3-chat';
import type { Logger } from 'pino';
import type { RequestLimits } from './config/flags/request-ceilings.js';
import type { LiveRequests } from './generation/live-requests.js';
import type { GenerationDefaults } from './generation/sampling.js';
import type { Access } from './http/access/access.js';
import type { TokenBudget } from './http/access/token-budget.js';
import type { CacheIsolation } from './http/cache-salt.js';
import type { ServerMetrics } from './metrics/server-metrics.js';
import type { ReasoningField } from './openai/chat-response.js';
import type { RequestTraces } from './traces/request-facts.js';
import type { EngineLink } from './worker/engine-link.js';
import type { GrammarLink } from './worker/grammar/grammar-client.js';
import type { EngineInfo } from './worker/messages.js';
import type { TextLink } from './worker/text/text-pool.js';

/** Settings that routes read. */
export interface HttpSettings {
  /** Names that requests may use; the first is the one in answers and metrics. */
  readonly servedModelNames: readonly [string, ...string[]];
  readonly maxBodyBytes: number;
  readonly keepAliveMs: number;
  /** Milliseconds that a client may read nothing; 0 = any time. */
  readonly clientStallMs: number;
  /** Tokens of a choice that a stream sends together. */
  readonly streamInterval: number;
  /** What one request may ask for. */
  readonly limits: RequestLimits;
  readonly apiKeys: readonly string[];
  /** Keys of the operator; they open every route. */
  readonly adminApiKeys: readonly string[];
  /** Seconds without progress after which the engine counts as dead; 0 = never. */
  readonly watchdogSeconds: number;
  /** Folder of the checkpoint, if there is one, and of its tokenizer. */
  readonly modelPath: string | undefined;
  readonly tokenizerPath: string;
  /** Names that clients may use for this server; undefined = any. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Origins of pages on other sites that may use it. */
  readonly allowedOrigins: readonly string[];
  /** For each key; 0 = no limit. */
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly maxConnections: number;
  /** HTTP status of `overloaded`. */
  readonly overloadStatus: 429 | 503;
  /** Where profiles are written; undefined = there are none. */
  readonly profileDirectory: string | undefined;
  /** Path of a proxy before every route; requests come with it or without. Empty = none. */
  readonly rootPath: string;
  /** True if other machines can reach the server. */
  readonly isExposed: boolean;
  readonly prefixCacheIsolation: CacheIsolation;
  /** Most milliseconds of a request; 0 = no limit. */
  readonly requestTimeoutMs: number;
  /** Header, in lower case, that names whose turn a request takes. */
  readonly tenantHeader: string | undefined;
  /** Merged under each request's own `chat_template_kwargs`. */
  readonly defaultTemplateKwargs: Readonly<Record<string, unknown>>;
  /** Requests may bring a template of their own. */
  readonly trustsTemplates: boolean;
  readonly logRequests: boolean;
  /** Prompts and answers are written to the log. */
  readonly logContent: boolean;
  /** The web pages are at `/ui`. */
  readonly servesUi: boolean;
  /** The API is described at `/docs` and `/openapi.json`. */
  readonly servesDocs: boolean;
  /** Who may read `/metrics`. */
  readonly metricsAccess: Access;
  /** Answers carry vLLM's `metrics` and llama-server's `timings`. */
  readonly measureRequests: boolean;
  /** More new tokens than fit are refused, not clamped. */
  readonly strictMaxTokens: boolean;
  /** New tokens of a chat that names no most; undefined = what fits. */
  readonly defaultMaxTokens: number | undefined;
  /** Fields that thoughts have in answers of chats. */
  readonly reasoningFields: readonly ReasoningField[];
  /** The arguments of every call are held to the schema of their function. */
  readonly strictTools: boolean;
  /** Requests may ask for a form of their answer. */
  readonly hasGrammars: boolean;
  /** Answers have sglang's extra fields. */
  readonly sglangCompat: boolean;
  /** A request without a model means the first name. */
  readonly allowMissingModel: boolean;
  /** Every stream ends with usage. */
  readonly forceUsage: boolean;
  /** Answers name the fields of their request that were ignored. */
  readonly debugHeaders: boolean;
}

/** A setting as it was given, and where. */
export interface GivenSetting {
  readonly name: string;
  /** As a config file has it; of a key only how many there are. */
  readonly text: string;
  /** `flag`, `environment`, `file` or `default`. */
  readonly source: string;
}

/** What routes work with; filled in once when the server starts. */
export interface ServerContext {
  readonly settings: HttpSettings;
  readonly engine: EngineLink;
  readonly text: TextLink;
  readonly grammars: GrammarLink;
  readonly tokenizer: ChatTokenizer;
  /** Special ids that the output parser needs in the text. */
  readonly markerIds: readonly number[];
  readonly defaults: GenerationDefaults;
  readonly metrics: ServerMetrics;
  readonly budget: TokenBudget;
  readonly logger: Logger;
  /** Only with `--otlp-traces-endpoint`. */
  readonly traces?: RequestTraces | undefined;
  /** Hash of model and versions, constant for a deployment. */
  readonly fingerprint: string;
  /** Seconds since 1970 when the server started. */
  readonly startedSeconds: number;
  /** Every setting that has a value, for the operator. */
  readonly given: readonly GivenSetting[];
  /** Requests whose answers are not complete. */
  readonly active: LiveRequests;
  /** Filled in when the engine is ready. */
  info: EngineInfo | undefined;
  /** True from the first termination signal on. */
  isDraining: boolean;
}
