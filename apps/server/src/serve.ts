import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { type ChatTokenizer, loadTokenizer } from '@altstream/minimax-m3-chat';
import { parseOverrides } from '@altstream/minimax-m3-model';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { MockSettings } from './config/flags/mock-settings.js';
import { readKeyFile } from './config/key-file.js';
import {
  findMockTexts,
  findModel,
  type ModelPlace,
  readGenerationDefaults,
} from './config/model-folder.js';
import type { ServeFlags } from './config/serve-flags.js';
import type { CrashState } from './crash/crash-report.js';
import { ExitError } from './errors/index.js';
import { LiveRequests } from './generation/live-requests.js';
import { grammarWorkerOptions } from './grammar/worker-options.js';
import { TokenBudget } from './http/access/token-budget.js';
import { makeApp } from './http/app.js';
import type { CacheIsolation } from './http/cache-salt.js';
import { replaceFiles } from './http/tls/secure-server.js';
import { readTlsFiles, warnOfEnd } from './http/tls/tls-files.js';
import { logLoad } from './log/load-line.js';
import { ServerMetrics } from './metrics/server-metrics.js';
import type { HttpSettings, ServerContext } from './server-context.js';
import { serverVersion } from './version.js';
import { EngineClient } from './worker/engine-client.js';
import type { LoadProgress } from './worker/engine-link.js';
import { EngineWorkerError } from './worker/engine-worker-error.js';
import { GrammarClient } from './worker/grammar/grammar-client.js';
import type { EngineInfo, EngineWorkerOptions, MockSetup } from './worker/messages.js';
import { TextClient } from './worker/text-client.js';

/** A server that listens; it may still be loading. */
export interface RunningServer {
  readonly url: string;
  /** The name that requests use. */
  readonly modelName: string;
  /** Settles when the model is loaded and the graphs are captured. */
  ready(): Promise<EngineInfo>;
  /** Files that can be read anew while it runs: those of TLS, and of keys. */
  readonly rereads: readonly string[];
  /** Reads them anew. @throws ExitError if one is wrong; everything stays as it was then */
  reload(): void;
  /** Where the server stands, for a crash report: no prompt, answer or key. */
  state(): CrashState;
  /** Refuses new requests, gives running ones the time, then ends everything. */
  close(timeoutMs: number): Promise<void>;
}

/** What the start reports to. */
export interface ServeOptions {
  readonly flags: ServeFlags;
  readonly logger: Logger;
  readonly onProgress: (progress: LoadProgress) => void;
  /** Called once if the engine dies after it was ready; nothing but a new process helps then. */
  readonly onEngineFailure: (error: Error) => void;
}

/** What clients get to read their last frames before their connections are cut. */
const lastFramesMs = 2000;
const loopback = new Set(['127.0.0.1', '::1', 'localhost']);

/** Binds the port at once, so that probes see the load, then loads the model in its worker. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { flags, logger, onProgress, onEngineFailure } = options;
  checkExposure(flags);
  const tls = readTlsFiles(flags);
  if (tls) warnOfEnd(tls, logger);
  const place = flags.mockEngine ? findMockTexts(flags) : findModel(flags);
  checkPaths(flags);
  const tokenizer = await loadTokenizer(place.tokenizer).catch((cause: Error) => {
    throw new ExitError('model', cause.message, { cause });
  });
  // Everything that can fail comes before the workers, which would outlive the error.
  const defaults = readGenerationDefaults(place.folder, flags.generationConfig);
  const [firstName = place.name, ...otherNames] = flags.servedModelName ?? [];
  const names = [firstName, ...otherNames] as const;
  const engineOptions = {
    ...workerOptions(flags, place.model),
    mock: flags.mockEngine && mockSetup(flags.mockEngine, tokenizer, defaults.eosTokenIds[0]),
    watchdogSeconds: flags.watchdogTimeout,
  };
  const metrics = new ServerMetrics(firstName);
  const engine = new EngineClient(engineOptions, {
    onProgress: (progress) => {
      metrics.start.enter(progress.phase);
      onProgress(progress);
    },
    onFailure: onEngineFailure,
    onSteps: (steps) => metrics.addSteps(steps),
    onWarning: (error) => logger.error({ err: error }, 'the engine goes on after a fault'),
  });
  const context: ServerContext = {
    settings: httpSettings(flags, place, names),
    engine,
    grammars: new GrammarClient(
      () => grammarWorkerOptions(context),
      (port, lost) => engine.connectGrammars(port, lost),
    ),
    text: new TextClient({ model: place.tokenizer, template: flags.chatTemplate }),
    tokenizer,
    markerIds: tokenizer.markerIds(),
    defaults,
    metrics,
    budget: new TokenBudget(flags.rateLimitTpm),
    logger,
    fingerprint: fingerprintOf(place.model, flags),
    startedSeconds: Math.floor(Date.now() / 1000),
    active: new LiveRequests(),
    info: undefined,
    isDraining: false,
  };
  const app = makeApp(context, tls);
  const stopLog = flags.disableLogStats ? undefined : logLoad(context);
  app.addHook('onClose', async () => stopLog?.());
  try {
    await listen(app, flags);
  } catch (error) {
    await Promise.all([context.engine.close(), context.text.close()]);
    throw error;
  }
  return running(app, { context, engine, flags });
}

/** What is missing is told before anything is loaded. */
function checkPaths(flags: ServeFlags): void {
  if (flags.chatTemplate !== undefined && !existsSync(flags.chatTemplate)) {
    throw new ExitError('usage', `--chat-template ${flags.chatTemplate} does not exist`);
  }
  for (const [flag, folder] of [
    ['--profile-dir', flags.profileDir],
    ['--crash-dir', flags.crashDir],
    ['--record-trace', flags.recordTrace && dirname(flags.recordTrace)],
  ] as const) {
    if (folder === undefined || existsSync(folder)) continue;
    const what =
      flag === '--record-trace' ? `the folder ${folder} of ${flag}` : `${flag} ${folder}`;
    throw new ExitError('usage', `${what} does not exist; make it first`);
  }
}

/** What routes read of the flags. */
function httpSettings(
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
    isExposed: !loopback.has(flags.host),
    prefixCacheIsolation: isolationOf(flags),
    requestTimeoutMs: flags.requestTimeout * 1000,
    tenantHeader: flags.tenantHeader?.toLowerCase(),
    defaultTemplateKwargs: flags.defaultChatTemplateKwargs,
    logRequests: !flags.disableLogRequests,
    servesUi: !flags.disableUi,
    measureRequests: flags.enablePerRequestMetrics ?? false,
    strictMaxTokens: flags.strictMaxTokens ?? false,
  };
}

interface Parts {
  readonly context: ServerContext;
  readonly engine: EngineClient;
  readonly flags: ServeFlags;
}

function running(app: FastifyInstance, { context, engine, flags }: Parts): RunningServer {
  const { host, apiKeyFile, sslCertfile, sslKeyfile, sslCaCerts } = flags;
  const scheme = sslCertfile === undefined ? 'http' : 'https';
  const { port } = app.server.address() as AddressInfo;
  return {
    modelName: context.settings.servedModelNames[0],
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    rereads: [apiKeyFile, sslCertfile, sslKeyfile, sslCaCerts].filter((file) => file !== undefined),
    reload: () => reload(app, context, flags),
    state: () => ({
      engine: context.engine.state,
      openRequests: context.active.size,
      isDraining: context.isDraining,
      heartbeatAge: context.engine.heartbeatAge ?? null,
      chosen: context.info?.report ?? {},
      steps: engine.lastSteps,
    }),
    ready: async () => {
      const info = await context.engine.ready().catch((error: Error) => {
        throw startError(error);
      });
      context.info = info;
      context.metrics.start.end();
      context.metrics.setInfo(info);
      return info;
    },
    close: async (timeoutMs) => {
      context.isDraining = true;
      await idle(context, timeoutMs);
      await context.engine.close();
      const late = setTimeout(() => app.server.closeAllConnections(), lastFramesMs);
      await app.close();
      clearTimeout(late);
      await Promise.all([context.text.close(), context.grammars.close()]);
    },
  };
}

/** All is read before anything changes, so a wrong file changes nothing. */
function reload(
  app: FastifyInstance,
  { settings, logger }: ServerContext,
  flags: ServeFlags,
): void {
  const tls = readTlsFiles(flags);
  const keys = { apiKeys: keysOf(flags), adminApiKeys: settings.adminApiKeys };
  if (tls) {
    warnOfEnd(tls, logger);
    replaceFiles(app, tls);
  }
  app.gate.replaceKeys(keys);
}

/** Waits until no request runs, or until the time is over. */
async function idle({ engine, active, logger }: ServerContext, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (engine.state === 'ready' && active.size > 0) {
    if (Date.now() >= deadline) {
      logger.warn({ requests: active.size }, 'shutdown timeout: the remaining requests end now');
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function listen(app: FastifyInstance, { host, port }: ServeFlags): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      const remedy = `stop the other program or pass --port ${port + 1} (0 takes any free one)`;
      throw new ExitError('port', `port ${port} on ${host} is in use; ${remedy}`, { cause });
    }
    throw new ExitError('port', `cannot listen on ${host}:${port}: ${message}`, { cause });
  }
}

function keysOf({ apiKey, apiKeyFile }: ServeFlags): readonly string[] {
  return [...(apiKey ?? []), ...(apiKeyFile === undefined ? [] : readKeyFile(apiKeyFile))];
}

/** Everybody who reaches the port may use the model, so beyond loopback a key is wanted. */
function checkExposure(flags: ServeFlags): void {
  const { host, adminApiKey, allowUnauthenticated } = flags;
  if (loopback.has(host) || keysOf(flags).length > 0 || adminApiKey?.length) return;
  if (allowUnauthenticated) return;
  throw new ExitError(
    'usage',
    `--host ${host} is reachable from other machines; pass --api-key KEY, or --allow-unauthenticated if that is meant`,
  );
}

/** On loopback only names of this machine, so that no other name can be pointed here. */
function allowedHosts({ host, allowedHosts: more }: ServeFlags): readonly string[] | undefined {
  return loopback.has(host) ? [...loopback, ...(more ?? [])] : more;
}

/** Tokens in place of texts. A script ends as an answer of the checkpoint does, if that is known. */
function mockSetup(
  { answers, ...same }: MockSettings,
  tokenizer: ChatTokenizer,
  endId: number | undefined,
): MockSetup {
  return {
    ...same,
    vocabSize: tokenizer.vocabSize,
    ...(answers && { scripts: answers.map((text) => tokenizer.encode(text, { specials: true })) }),
    ...(endId === undefined ? {} : { endId }),
  };
}

function workerOptions(flags: ServeFlags, model: string): Omit<EngineWorkerOptions, 'mock'> {
  return {
    model,
    loadFormat: flags.loadFormat === 'dummy' ? 'dummy' : 'safetensors',
    overrides: parseOverrides(flags.override ?? []),
    seed: flags.seed,
    simulatedRank: flags.simulateTpRank,
    memoryFraction: flags.gpuMemoryUtilization,
    device: flags.device,
    dtype: flags.dtype,
    overlap: flags.overlap,
    sharedExpert: flags.sharedExpert,
    cpuThreads: flags.cpuThreads,
    maxModelLength: flags.maxModelLen,
    maxSequences: flags.maxNumSeqs,
    maxBatchedTokens: flags.maxNumBatchedTokens,
    maxPartialPrefills: flags.maxNumPartialPrefills,
    maxWaiting: flags.maxNumQueuedReqs ?? 4 * flags.maxNumSeqs,
    maxWaitingTokens: flags.maxNumQueuedTokens,
    maxLogitBias: flags.maxLogitBias,
    schedulingPolicy: flags.schedulingPolicy,
    itlTargetMs: flags.itlTargetMs,
    longPrefillTokenThreshold: flags.longPrefillTokenThreshold,
    queueTimeoutMs: flags.queueTimeout * 1000,
    traceFile: flags.recordTrace,
    pages: flags.numGpuBlocksOverride,
    prefixCaching: flags.enablePrefixCaching,
    lookAhead: flags.asyncScheduling,
    graphSizes: flags.enforceEager ? [] : flags.cudaGraphSizes,
  };
}

/** Keys that may find each other's prompts could tell by the time what those were. */
function isolationOf(flags: ServeFlags): CacheIsolation {
  const { prefixCacheIsolation, adminApiKey = [] } = flags;
  const keys = keysOf(flags).length + adminApiKey.length;
  return prefixCacheIsolation ?? (keys > 1 ? 'api-key' : 'none');
}

/** Exit codes tell supervisors whether trying again can help. */
function startError(error: Error): ExitError {
  const code = error instanceof EngineWorkerError ? error.code : '';
  const kind = kindOf(code);
  const named = kind === 'usage' || kind === 'memory' ? withFlags(error.message) : error.message;
  return new ExitError(kind, named, { cause: error });
}

function kindOf(code: string): ConstructorParameters<typeof ExitError>[0] {
  if (/^CRT_UNAVAILABLE/.test(code) || code === 'CRT_NO_KERNEL_IMAGE') return 'device';
  if (['CRT_OOM', 'MODEL_MEMORY', 'ENGINE_MEMORY'].includes(code)) return 'memory';
  if (['ENGINE_PARAMETER', 'MODEL_CONFIG_OVERRIDE'].includes(code)) return 'usage';
  return /^MODEL_/.test(code) ? 'model' : 'engine';
}

const flagOf: Readonly<Record<string, string>> = {
  maxModelLength: '--max-model-len',
  maxSequences: '--max-num-seqs',
  maxBatchedTokens: '--max-num-batched-tokens',
  maxPartialPrefills: '--max-num-partial-prefills',
  maxWaiting: '--max-num-queued-reqs',
  maxWaitingTokens: '--max-num-queued-tokens',
  pages: '--num-gpu-blocks-override',
  memoryFraction: '--gpu-memory-utilization',
  num_hidden_layers: '--override num_hidden_layers=N',
  graphSizes: '--cuda-graph-sizes',
};

/** The engine names its own options; a person at the command line knows them as flags. */
function withFlags(message: string): string {
  return message.replaceAll(/`?\b([a-z][A-Za-z]+)\b`?/g, (text, name: string) =>
    name === 'pages' && !text.startsWith('`') ? text : (flagOf[name] ?? text),
  );
}

function fingerprintOf(folder: string, { dtype, device }: ServeFlags): string {
  const hash = createHash('sha256').update([folder, dtype, device, serverVersion].join('\0'));
  return `fp_${hash.digest('hex').slice(0, 12)}`;
}
