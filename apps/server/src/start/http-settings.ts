import type { ModelPlace } from '../config/model-folder.js';
import type { ServeFlags } from '../config/serve-flags.js';
import type { CacheIsolation } from '../http/cache-salt.js';
import type { HttpSettings } from '../server-context.js';
import { allowedHosts, isExposed, keysOf } from './exposure.js';

/** What routes read of the flags. */
export function httpSettings(
  flags: ServeFlags,
  place: ModelPlace,
  names: HttpSettings['servedModelNames'],
): HttpSettings {
  return {
    servedModelNames: names,
    maxBodyBytes: flags.maxBodySize,
    keepAliveMs: flags.sseKeepAliveInterval * 1000,
    clientStallMs: flags.clientStallTimeout * 1000,
    streamInterval: flags.streamInterval,
    limits: {
      n: flags.maxN,
      prompts: flags.maxPromptBatch,
      logprobs: flags.maxLogprobs,
      stopStrings: flags.maxStopStrings,
      logitBiases: flags.maxLogitBias,
    },
    apiKeys: keysOf(flags),
    adminApiKeys: flags.adminApiKey ?? [],
    watchdogSeconds: flags.watchdogTimeout,
    modelPath: place.folder,
    tokenizerPath: place.tokenizer,
    allowedHosts: allowedHosts(flags),
    allowedOrigins: flags.allowedOrigins ?? [],
    profileDirectory: flags.profileDir,
    requestsPerMinute: flags.rateLimitRpm,
    tokensPerMinute: flags.rateLimitTpm,
    maxConnections: flags.maxConnections,
    overloadStatus: flags.overloadStatus === '429' ? 429 : 503,
    rootPath: flags.rootPath ?? '',
    isExposed: isExposed(flags),
    prefixCacheIsolation: isolationOf(flags),
    requestTimeoutMs: flags.requestTimeout * 1000,
    tenantHeader: flags.tenantHeader?.toLowerCase(),
    defaultTemplateKwargs: flags.defaultChatTemplateKwargs,
    trustsTemplates: flags.trustRequestChatTemplate ?? false,
    logRequests: !flags.disableLogRequests,
    logContent: flags.logContent ?? false,
    servesUi: !flags.disableUi,
    servesDocs: !flags.disableDocs,
    metricsAccess: flags.metricsAuth,
    measureRequests: flags.enablePerRequestMetrics ?? false,
    strictMaxTokens: flags.strictMaxTokens ?? false,
    defaultMaxTokens: flags.defaultMaxTokens,
    reasoningFields:
      flags.reasoningField === 'both' ? ['reasoning_content', 'reasoning'] : [flags.reasoningField],
    strictTools: flags.strictTools ?? false,
    hasGrammars: flags.grammarBackend !== 'none',
    sglangCompat: flags.sglangCompat ?? false,
    allowMissingModel: flags.allowMissingModel ?? false,
    forceUsage: flags.enableForceIncludeUsage ?? false,
    debugHeaders: flags.debugHeaders ?? false,
  };
}

/** Keys that may find each other's prompts could tell by the time what those were. */
function isolationOf(flags: ServeFlags): CacheIsolation {
  const { prefixCacheIsolation, adminApiKey = [] } = flags;
  const keys = keysOf(flags).length + adminApiKey.length;
  return prefixCacheIsolation ?? (keys > 1 ? 'api-key' : 'none');
}
