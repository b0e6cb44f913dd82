import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import { applyConfigFile } from '../config/config-file.js';
import { printedConfig, type ShownSetting, shownSettings } from '../config/print-config.js';
import { addServeFlags, type ServeFlags } from '../config/serve-flags.js';
import { type CrashFacts, writeCrashReport } from '../crash/crash-report.js';
import { ExitError, exitCodes } from '../errors/index.js';
import { safeError } from '../log/safe-error.js';
import { type RunningServer, serve } from '../serve.js';
import type { EngineInfo } from '../worker/messages.js';
import { banner, meansNothing } from './terminal/banner.js';
import { orExit } from './terminal/or-exit.js';
import { makeProgress } from './terminal/progress.js';
import { shortenedContext } from './terminal/shortened-context.js';

/** `altstream serve`. */
export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('serve a MiniMax-M3 checkpoint over the OpenAI API; without one, the demo model')
    .argument('[model]', 'folder of the checkpoint, the same as --model');
  addServeFlags(command).action((model: string | undefined) =>
    orExit(async () => {
      if (model !== undefined) command.setOptionValueWithSource('model', model, 'cli');
      applyConfigFile(command);
      const flags = command.opts<ServeFlags>();
      if (flags.printConfig) process.stdout.write(printedConfig(command));
      else await run(flags, shownSettings(command));
    }),
  );
}

async function run(flags: ServeFlags, settings: readonly ShownSetting[]): Promise<void> {
  const isPretty = (flags.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json')) === 'pretty';
  const { logger, print } = isPretty ? prettyOutput(flags.logLevel) : jsonOutput(flags.logLevel);
  const progress = makeProgress(logger, process.stderr.isTTY === true);
  const engine = { isDead: false };
  let server: RunningServer | undefined;
  const crash = (what: CrashFacts['what'], error: unknown): void =>
    tellCrash({ what, error, settings, state: server?.state() }, { flags, logger });
  server = await serve({
    flags,
    given: settings,
    logger,
    onProgress: progress.update,
    onEngineFailure: (err) => {
      engine.isDead = true;
      crash('the engine died', err);
      // A dead engine does not come back; a supervisor starts a new process by the exit code.
      setTimeout(() => process.exit(exitCodes.engine), 2000);
    },
  });
  logger.info({ url: server.url }, 'listening; the model is loading');
  if (flags.logContent)
    logger.warn('--log-content: PROMPTS AND ANSWERS are written to this log, whoever sent them');
  const tracesContent = flags.otlpTracesEndpoint !== undefined && flags.otelCaptureContent === true;
  if (tracesContent)
    logger.warn('--otel-capture-content: PROMPTS AND ANSWERS are sent to the collector of traces');
  if (flags.model === undefined && !flags.mockEngine)
    logger.info('no model was named: this is the demo model');
  closeGracefully({ server, engine, flags, logger, crash });
  const info = await server.ready().catch((error: unknown) => {
    progress.stop();
    throw error;
  });
  progress.stop(true);
  // Counted from the start of the process, so nothing that comes before this file is left out.
  const readyMs = Math.round(performance.now());
  report({ ...info, readyMs }, { flags, logger });
  const keys = [...(flags.apiKey ?? []), ...(flags.adminApiKey ?? [])];
  const isOpen = keys.length === 0 && flags.apiKeyFile === undefined;
  const logsContent = flags.logContent ?? false;
  const access = { isOpen, servesUi: !flags.disableUi, logsContent, tracesContent };
  print(banner(server, { ...info, readyMs }, access));
}

/** Writes the report, and says where it is even to who sees no log. */
function tellCrash(
  facts: CrashFacts,
  { flags, logger }: { readonly flags: ServeFlags; readonly logger: Logger },
): void {
  let report: string | undefined;
  try {
    report = writeCrashReport(facts, flags.crashDir);
  } catch (err) {
    logger.error({ err }, 'the crash report could not be written');
  }
  const { what, error: err } = facts;
  logger.fatal({ err, report }, `${what}; open requests are told, and the process ends`);
  const where = report === undefined ? '' : `; crash report, without prompts: ${report}`;
  process.stderr.write(`altstream: ${what}${where}\n`);
}

/** Log lines, and text that comes after the lines logged before it. */
interface Output {
  readonly logger: Logger;
  readonly print: (text: string) => void;
}

/** Nothing that a client sent gets into the log by an error. */
const serializers = { err: (error: unknown) => safeError(error) };

/** Lines are queued, so that a reader that stalls does not stall the server. */
function jsonOutput(level: string): Output {
  const stream = pino.destination({ dest: 1, sync: false });
  return { logger: pino({ level, serializers }, stream), print: (text) => stream.write(text) };
}

/** Lines for a person are written at once. */
function prettyOutput(level: string): Output {
  const stream = pretty({ ignore: 'pid,hostname', singleLine: true, sync: true });
  return {
    logger: pino({ level, serializers }, stream),
    print: (text) => process.stdout.write(text),
  };
}

/**
 * The first signal drains, the second one ends at once; a crash of the engine ends with its code.
 */
function closeGracefully({
  server,
  engine,
  flags,
  logger,
  crash,
}: {
  server: RunningServer;
  engine: { isDead: boolean };
  flags: ServeFlags;
  logger: Logger;
  crash: (what: CrashFacts['what'], error: unknown) => void;
}): void {
  const timeoutMs = flags.shutdownTimeout * 1000;
  const rereads = server.rereads.length > 0;
  if (rereads) process.on('SIGHUP', () => reload(server, logger));
  const skip: 'SIGHUP'[] = rereads ? ['SIGHUP'] : [];
  closeWithGrace({ delay: timeoutMs + 15_000, logger: false, skip }, async ({ signal, err }) => {
    if (err) crash('an error that nobody caught', err);
    else logger.info({ signal }, 'shutting down; running requests may finish');
    await server.close(err ? 0 : timeoutMs);
    if (err || engine.isDead) process.exit(exitCodes.engine);
  });
}

/** What is wrong with a new file must not end a server that runs well with the old one. */
function reload(server: RunningServer, logger: Logger): void {
  const { rereads: files } = server;
  try {
    server.reload();
    logger.info({ files }, 'SIGHUP: read anew');
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    logger.error({ files, reason: error.message }, 'SIGHUP: nothing changed');
  }
}

/** Nothing is silent: one line for each part that chose something. */
function report(
  info: EngineInfo & { readonly readyMs: number },
  { flags, logger }: { readonly flags: ServeFlags; readonly logger: Logger },
): void {
  const { report: parts, readyMs, ...limits } = info;
  for (const [part, chosen] of Object.entries(parts)) logger.info({ [part]: chosen }, part);
  const shortened = shortenedContext(info, flags);
  if (shortened) {
    const { maxModelLength, modelMaxLength, pages } = limits;
    logger.warn({ maxModelLength, modelMaxLength, pages }, shortened);
  }
  const nothing = meansNothing(parts);
  if (nothing) logger.warn({ outputs: nothing }, 'answers of this server mean nothing');
  for (const { rows, reason } of droppedGraphs(parts)) {
    logger.warn(
      { rows, reason },
      'a decode graph could not be captured; such steps run without it',
    );
  }
  logger.info({ ...limits, readyMs }, 'ready');
}

/** Decode graphs that the engine's report says were dropped. */
function droppedGraphs(report: EngineInfo['report']): readonly { rows: number; reason: string }[] {
  const engine = report['engine'] as { decode?: { dropped?: { rows: number; reason: string }[] } };
  return engine?.decode?.dropped ?? [];
}
