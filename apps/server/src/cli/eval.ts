import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { printable } from '../client/printable.js';
import { chooseModel } from '../client/served-models.js';
import { parseServerAddress } from '../client/server-address.js';
import { makeFolderOf, orWriteError } from '../config/output-folder.js';
import { demoSuite } from '../demo-model.js';
import { evalReport, evalText } from '../eval/eval-report.js';
import { patiently } from '../eval/patiently.js';
import { limitSkills, readSuite } from '../eval/read-suite.js';
import { runSuite, type SuiteRun } from '../eval/run-suite.js';
import { missedThresholds, parseThresholds } from '../eval/thresholds.js';
import { addClientFlags, type ClientFlags } from './client-flags.js';
import { interruptibly } from './terminal/interruptibly.js';
import { interruptedExitCode, orExit } from './terminal/or-exit.js';

interface EvalFlags extends ClientFlags {
  readonly suite: string;
  readonly concurrency: number;
  readonly limit?: number;
  readonly timeout: number;
  readonly json?: string;
  readonly minAccuracy?: readonly string[];
}

/** The exit code when answers are missing, or fewer are right than was wanted. */
const belowExitCode = 1;

/** `altstream eval`: what a served model can do, skill by skill. */
export function addEvalCommand(program: Command): void {
  const command = program
    .command('eval')
    .description('ask a running server the prompts of a suite and count the right answers');
  addClientFlags(command)
    .requiredOption('--suite <name>', '`demo`, or the path of a .jsonl file', 'demo')
    .option('--concurrency <n>', 'prompts under way at once', positive, 4)
    .option('--limit <n>', 'ask at most this many prompts of each skill', positive)
    .option('--timeout <s>', 'seconds for one answer', positive, 120)
    .option('--json <file>', 'write the table and every answer there')
    .option(
      '--min-accuracy <least...>',
      'exit with 1 below it: 0.9 (all prompts together), skill=0.95 (one skill)',
    )
    .action((flags: EvalFlags) => orExit(() => evaluate(flags)));
}

async function evaluate(flags: EvalFlags): Promise<void> {
  const server = parseServerAddress(flags.baseUrl, flags.apiKey);
  const { json } = flags;
  if (json !== undefined) makeFolderOf(json, `--json ${json}`);
  const all = readSuite(flags.suite === 'demo' ? demoSuite() : flags.suite);
  const prompts = flags.limit === undefined ? all : limitSkills(all, flags.limit);
  const skills = new Set(prompts.map(({ skill }) => skill));
  const thresholds = parseThresholds(flags.minAccuracy ?? [], skills);
  const timeoutMs = flags.timeout * 1000;
  const limits = { timeoutMs };
  const model = await patiently(() => chooseModel(server, flags.model, limits), limits);
  const { concurrency } = flags;
  const run = await interruptibly((signal) =>
    runSuite(server, prompts, {
      model,
      concurrency,
      timeoutMs,
      signal,
      onResult: progressLine(prompts.length),
    }),
  );
  const subject = { suite: flags.suite, server: server.baseUrl, model, concurrency };
  const report = evalReport({ ...subject, prompts: prompts.length }, run);
  process.stdout.write(printable(evalText({ report, run })));
  if (json !== undefined) {
    const text = `${JSON.stringify(report, null, 2)}\n`;
    orWriteError(`--json ${json}`, () => writeFileSync(json, text));
  }
  const missed = missedThresholds(thresholds, report.skills, report.total);
  for (const sentence of missed) process.stderr.write(`altstream: ${sentence}\n`);
  process.exitCode = exitCodeOf(run, missed.length + report.total.failed > 0);
}

function exitCodeOf({ ended }: SuiteRun, isBelow: boolean): number {
  if (ended === 'stopped') return interruptedExitCode;
  return isBelow || ended === 'gave-up' ? belowExitCode : 0;
}

function progressLine(prompts: number): (() => void) | undefined {
  if (!process.stderr.isTTY) return undefined;
  let done = 0;
  return () => {
    done += 1;
    const end = done === prompts ? '\r\u001b[K' : '';
    process.stderr.write(`\r  ${done} of ${prompts}${end}`);
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('Expected an integer from 1.');
}
