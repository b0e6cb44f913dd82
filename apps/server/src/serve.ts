import { createHash } from 'node:crypto';
import { loadTokenizer } from '@altstream/minimax-m3-chat';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { readEnvironment } from './config/environment.js';
import { findMockTexts, findModel, readGenerationDefaults } from './config/model-folder.js';
import type { ServeFlags } from './config/serve-flags.js';
import type { CrashState } from './crash/crash-report.js';
import { ExitError } from './errors/index.js';
import { LiveRequests } from './generation/live-requests.js';
import { grammarWorkerOptions } from './grammar/worker-options.js';
import { TokenBudget } from './http/access/token-budget.js';
import { makeApp } from './http/app.js';
import { replaceFiles } from './http/tls/secure-server.js';
import { readTlsFiles, warnOfEnd } from './http/tls/tls-files.js';
import { logLoad } from './log/load-line.js';
import { ServerMetrics } from './metrics/server-metrics.js';
import type { GivenSetting, ServerContext } from './server-context.js';
import { checkBlockSize, checkFlags } from './start/check-flags.js';
import { deviceOf } from './start/device.js';
import { mockSetup, workerOptions } from './start/engine-settings.js';
import { checkExposure, keysOf } from './start/exposure.js';
import { httpSettings } from './start/http-settings.js';
import { warnOfClocks } from './start/limit-clocks.js';
import { addressOf, listen } from './start/listen.js';
import { startError } from './start/start-error.js';
import type { RequestTraces } from './traces/request-facts.js';
import { serverVersion } from './version.js';
import { EngineClient } from './worker/engine-client.js';
import type { LoadProgress } from './worker/engine-link.js';
import { GrammarClient } from './worker/grammar/grammar-client.js';
import type { EngineInfo, EngineWorkerOptions } from './worker/messages.js';
import { TextPool, type TextPoolEvents } from './worker/text/text-pool.js';
import type { QueueBounds } from './worker/text/text-queue.js';

/** Of texts that wait for a text worker. */
const mostTextCharacters = 2 ** 27;

/** A server that listens; it may still be loading. */
export interface RunningServer {
  /** Of the routes; `unix:` and the path for a Unix socket. */
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
  /** What the command calls the checkpoint's folder, for errors; default `--model DIR`. */
  readonly folderName?: string | undefined;
  /**
   * The flags as they were given, for the operator to see; none when it runs as a part of something
   * else.
   */
  readonly given?: readonly GivenSetting[];
  readonly logger: Logger;
  readonly onProgress: (progress: LoadProgress) => void;
  /** Called once if the engine dies after it was ready; nothing but a new process helps then. */
  readonly onEngineFailure: (error: Error) => void;
}

/** What clients get to read their last frames before their connections are cut. */
const lastFramesMs = 2000;

/** Binds the port at once, so that probes see the load, then loads the model in its worker. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { flags, logger, onProgress, onEngineFailure } = options;
  checkExposure(flags);
  checkFlags(flags);
  const tls = readTlsFiles(flags);
  if (tls) warnOfEnd(tls, logger);
  warnOfClocks(logger);
  const place = flags.mockEngine ? findMockTexts(flags) : findModel(flags, options.folderName);
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
  const textWorkers = flags.tokenizerWorkerNum;
  const metrics = new ServerMetrics(firstName, { alias: flags.metricsAlias, textWorkers });
  const traces = await tracesOf(flags, { logger, metrics });
  const engine = new EngineClient(engineOptions, {
    onProgress: (progress) => {
      metrics.start.enter(progress.phase);
      onProgress(progress);
    },
    onFailure: onEngineFailure,
    onSteps: (steps) => metrics.addSteps(steps),
    onLate: () => metrics.countLateEvent('unknown'),
    onWarning: (error) => logger.error({ err: error }, 'the engine goes on after a fault'),
  });
  const context: ServerContext = {
    settings: httpSettings(flags, place, names),
    engine,
    grammars: new GrammarClient(
      () => grammarWorkerOptions(context),
      (port, lost) => engine.connectGrammars(port, lost),
      (seconds) => metrics.preparation.grammar(seconds),
    ),
    text: new TextPool(
      {
        ...{ model: place.tokenizer, template: flags.chatTemplate, workers: textWorkers },
        isShared: () => flags.tenantHeader !== undefined || app.gate.tenants > 1,
        mostWaiting: mostTexts(engineOptions, flags),
      },
      textEvents(metrics, logger),
    ),
    tokenizer,
    markerIds: tokenizer.markerIds(),
    defaults,
    metrics,
    budget: new TokenBudget(flags.rateLimitTpm),
    logger,
    traces,
    fingerprint: fingerprintOf(place.model, flags),
    startedSeconds: Math.floor(Date.now() / 1000),
    given: options.given ?? [],
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
    await Promise.all([context.engine.close(), closeHelpers(context)]);
    throw error;
  }
  return running(app, { context, engine, flags });
}

/** As many as the engine takes, so that the texts of one request that it takes can wait. */
function mostTexts(
  { maxSequences, maxWaiting }: Pick<EngineWorkerOptions, 'maxSequences' | 'maxWaiting'>,
  { maxBodySize }: Pick<ServeFlags, 'maxBodySize'>,
): QueueBounds {
  return { jobs: maxSequences + maxWaiting, characters: Math.max(mostTextCharacters, maxBodySize) };
}

function textEvents({ preparation, text }: ServerMetrics, logger: Logger): TextPoolEvents {
  return {
    onDone: (worker, seconds) => {
      preparation.prompt(seconds);
      text.done(worker, seconds);
    },
    onLost: (worker, cause) => {
      const level = cause === 'client' ? 'debug' : 'warn';
      logger[level]({ worker, cause }, 'a text worker is replaced; its prompt is given up');
      text.lose(worker, cause);
    },
    onLoad: (load) => text.setLoad(load),
  };
}

interface Parts {
  readonly context: ServerContext;
  readonly engine: EngineClient;
  readonly flags: ServeFlags;
}

function running(app: FastifyInstance, { context, engine, flags }: Parts): RunningServer {
  const { apiKeyFile, sslCertfile, sslKeyfile, sslCaCerts } = flags;
  return {
    modelName: context.settings.servedModelNames[0],
    url: addressOf(app, flags),
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
      checkBlockSize(flags, info);
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
      await closeHelpers(context);
    },
  };
}

/** Ends what works beside the engine. */
async function closeHelpers({ text, grammars, traces }: ServerContext): Promise<void> {
  await Promise.all([text.close(), grammars.close(), traces?.close(lastFramesMs)]);
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

function fingerprintOf(folder: string, flags: ServeFlags): string {
  const parts = [folder, flags.dtype, deviceOf(flags), serverVersion];
  const hash = createHash('sha256').update(parts.join('\0'));
  return `fp_${hash.digest('hex').slice(0, 12)}`;
}

/** The libraries for it are loaded only where it is wanted. */
async function tracesOf(
  { otlpTracesEndpoint, otelCaptureContent }: ServeFlags,
  { logger, metrics }: Pick<ServerContext, 'logger' | 'metrics'>,
): Promise<RequestTraces | undefined> {
  if (otlpTracesEndpoint === undefined) return undefined;
  const { otlpTraces } = await import('./traces/otlp-traces.js');
  const { serviceName, spanQueueSize } = readEnvironment();
  return otlpTraces(otlpTracesEndpoint, {
    ...{ logger, serviceName, queueSize: spanQueueSize },
    onLost: (cause, spans) => metrics.traces.lose(cause, spans),
    withContent: otelCaptureContent ?? false,
  });
}
