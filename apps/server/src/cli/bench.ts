import { loadTokenizer } from '@altstream/minimax-m3-chat';
import type { Command } from 'commander';
import { Pool } from 'undici';
import { resultFiles, writeResults } from '../bench/bench-files.js';
import { type BenchTokenizer, countRequests } from '../bench/bench-prompt.js';
import { type BenchReport, benchReport, metricNames, valuesOf } from '../bench/bench-report.js';
import type { RequestRecord } from '../bench/bench-request.js';
import { benchText } from '../bench/bench-text.js';
import { latencyPlot } from '../bench/latency-plot.js';
import { type BenchRun, runBench } from '../bench/run-bench.js';
import { control, ownCommit, serverFacts } from '../bench/server-facts.js';
import { printable } from '../client/printable.js';
import { chooseModel } from '../client/served-models.js';
import { parseServerAddress, type ServerAddress } from '../client/server-address.js';
import { ExitError } from '../errors/index.js';
import { addBenchFlags, type BenchFlags } from './bench-flags.js';
import { workloadOf } from './bench-workload.js';
import { interruptibly } from './terminal/interruptibly.js';
import { interruptedExitCode, orExit } from './terminal/or-exit.js';

/** Sockets at once; requests beyond wait in the client, as behind `--max-concurrency`. */
const mostConnections = 4096;
/** When more than one request of a hundred failed. */
const failedExitCode = 1;

/** `altstream bench`: how fast any OpenAI-compatible server answers. */
export function addBenchCommand(program: Command): void {
  const command = program
    .command('bench')
    .description('measure how fast a running OpenAI-compatible server answers');
  addBenchFlags(command).action((flags: BenchFlags) => orExit(() => bench(flags)));
}

async function bench(flags: BenchFlags): Promise<void> {
  const server = parseServerAddress(flags.baseUrl, flags.apiKey);
  const model = await chooseModel(server, flags.model, { timeoutMs: 30_000 });
  const files = resultFiles(flags, stemOf(flags, model));
  const tokenizer = await tokenizerOf(flags);
  const workload = await workloadOf(flags, { tokenizer, server, model });
  const { prompts, arrivalsMs } = workload;
  const requests = countRequests(prompts);
  const maxConcurrency = Math.min(
    flags.maxConcurrency ?? Infinity,
    prompts.length,
    mostConnections,
  );
  const url = new URL(server.baseUrl);
  const pool = new Pool(url.origin, {
    connections: maxConcurrency,
    pipelining: 1,
    // The time-out of each request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const run = await measured(flags, pool, (signal) =>
      runBench({
        target: targetOf(flags, { pool, url, model, tokenizer }),
        prompts,
        arrivalsMs,
        maxConcurrency,
        warmups: flags.warmup,
        warmupPrompts: workload.warmupPrompts,
        signal,
        onDone: progressLine(requests),
      }),
    );
    const facts = await serverFacts(pool, server.apiKey);
    const setting = {
      ...settingOf(flags, server, model),
      num_prompts: requests,
      ...workload.setting,
      git_sha: await ownCommit(),
    };
    finish(flags, run, { setting, facts, files });
  } finally {
    await pool.destroy();
  }
}

function targetOf(
  flags: BenchFlags,
  { url, ...same }: { url: URL; pool: Pool; model: string; tokenizer: BenchTokenizer | undefined },
) {
  const isChat = flags.backend === 'openai-chat';
  const ending = isChat ? '/chat/completions' : '/completions';
  return {
    ...same,
    isChat,
    path: `${url.pathname.replace(/\/$/, '')}${ending}`,
    apiKey: flags.apiKey,
    fields: {
      temperature: flags.temperature,
      ...(flags.ignoreEos ? { ignore_eos: true } : {}),
      ...flags.extraBody,
    },
    timeoutMs: flags.timeout * 1000,
  };
}

/**
 * What comes before and after the requests. The first Ctrl-C ends the run with what it has so far.
 */
async function measured(
  flags: BenchFlags,
  pool: Pool,
  run: (signal: AbortSignal) => Promise<BenchRun>,
): Promise<BenchRun> {
  if (flags.flushCache) await control(pool, '/flush_cache', flags.apiKey);
  if (flags.profile) await control(pool, '/start_profile', flags.apiKey);
  try {
    return await interruptibly(run);
  } finally {
    if (flags.profile) await control(pool, '/stop_profile', flags.apiKey);
  }
}

function finish(
  flags: BenchFlags,
  { records, isStopped }: BenchRun,
  kept: {
    readonly setting: BenchReport;
    readonly facts: unknown;
    readonly files: ReturnType<typeof resultFiles>;
  },
): void {
  const report = benchReport(records, {
    percentiles: flags.metricPercentiles,
    percentileMetrics: new Set(flags.percentileMetrics),
    goodput: flags.goodput ?? new Map(),
    isDetailed: flags.saveDetailed ?? false,
  });
  const result = { ...kept.setting, is_stopped: isStopped, ...report, server_info: kept.facts };
  process.stdout.write(printable(benchText(report)));
  writeResults(kept.files, result, plotOf(records, kept.setting));
  if (isStopped) process.exitCode = interruptedExitCode;
  else if (report['request_throughput'] === null) process.exitCode = failedExitCode;
}

function plotOf(records: readonly RequestRecord[], { model_id, request_rate }: BenchReport) {
  const good = records.filter(({ error }) => error === undefined);
  const series = metricNames
    .filter((name) => name !== 'queued_ttft')
    .map((name) => ({ name: name.toUpperCase(), values: valuesOf(name, good) }));
  const title = `${model_id}: ${good.length} requests, ${request_rate}/s`;
  return latencyPlot(series, title);
}

async function tokenizerOf({ tokenizer }: BenchFlags): Promise<BenchTokenizer | undefined> {
  if (tokenizer === undefined) return undefined;
  return loadTokenizer(tokenizer).catch((cause: Error) => {
    throw new ExitError('model', `--tokenizer ${tokenizer}: ${cause.message}`, { cause });
  });
}

function settingOf(flags: BenchFlags, server: ServerAddress, model: string): BenchReport {
  const unlimited = flags.datasetName === 'replay' ? 'recorded' : 'inf';
  const shownRate = Number.isFinite(flags.requestRate) ? flags.requestRate : unlimited;
  return {
    date: new Date().toISOString(),
    label: flags.label ?? null,
    backend: flags.backend,
    endpoint_type: flags.backend,
    base_url: server.baseUrl,
    model_id: model,
    tokenizer_id: flags.tokenizer ?? null,
    dataset_name: flags.datasetName,
    request_rate: shownRate,
    burstiness: flags.burstiness,
    max_concurrency: flags.maxConcurrency ?? null,
    seed: flags.seed,
    ignore_eos: flags.ignoreEos ?? false,
    client: `node ${process.versions.node}`,
  };
}

/** A file name that says which run it was. */
function stemOf({ backend, requestRate }: BenchFlags, model: string): string {
  const rate = Number.isFinite(requestRate) ? `${requestRate}qps` : 'infqps';
  const time = new Date()
    .toISOString()
    .replaceAll(/[-:]|\..*$/g, '')
    .replace('T', '-');
  return `${backend}-${rate}-${model.replaceAll(/[^\w.-]+/g, '-')}-${time}`;
}

function progressLine(requests: number): (() => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  let done = 0;
  return () => {
    done += 1;
    const end = done === requests ? '\r\u001b[K' : '';
    process.stderr.write(`\r  ${done} of ${requests}${end}`);
  };
}
