import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { HostCommand } from '../host-command.js';
import { projectArguments, projects } from '../projects.js';
import { requiredCuda } from '../required-cuda.js';
import { runVitest } from '../run-vitest.js';
import { saveResults } from '../save-results.js';
import { suiteTable } from '../suite-table.js';
import { testFiles, vitestFilters } from '../test-files.js';
import { parityFiles } from './parity-files.js';
import { readFindings, type SanitizerFindings } from './sanitizer-log.js';

// Calls that fail are no findings: the suites provoke them, and the runtime checks each answer.
const tools = {
  memcheck: ['--tool=memcheck', '--report-api-errors=no'],
  racecheck: ['--tool=racecheck'],
} as const;

type Tool = keyof typeof tools;

// Most of the time under a tool is spent on the host: starting processes, patching kernels.
const workersUnderTool = Math.max(1, Math.min(6, Math.floor(availableParallelism() / 2)));

// So suites for each backend are called.
const onCuda = '\\bon cuda\\b';

const exitOnSigterm = new URL('exit-on-sigterm.mjs', import.meta.url).href;

interface Checked extends SanitizerFindings {
  readonly tool: Tool;
  readonly passed: number;
  readonly status: number;
}

/**
 * The parity cases on CUDA, once under each tool. Fails on a finding, on a failed test, and if
 * nothing was looked at.
 */
export async function sanitize(root: string, command: HostCommand): Promise<number> {
  const { error } = spawnSync('compute-sanitizer', ['--version']);
  if (error) {
    throw new Error('compute-sanitizer is not on the PATH; it comes with the CUDA toolkit');
  }
  const suites = projects(root);
  const filters = vitestFilters(root, testFiles(root, suites), command.filters);
  const environment = await requiredCuda();
  const { wanted, flags } = toolsOf(command.flags);
  const asked = { ...command, flags, filters };
  const checked = wanted.map((tool) => check(root, asked, tool, environment));
  await saveResults(command, 'sanitize.json', checked);
  const lines = checked.map(({ tool, findings, passed, status }) =>
    [
      tool.padEnd(10),
      `${findings} findings, ${passed} tests passed`,
      status === 0 ? '' : 'FAILED',
    ].join(' '),
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return checked.every(({ status }) => status === 0) ? 0 : 1;
}

/**
 * Below the results, where there are any, so that what was found is there even if the run is ended.
 */
function logFolder(out: string | undefined, tool: Tool): string {
  if (out === undefined) return mkdtempSync(join(tmpdir(), `altstream-${tool}-`));
  const folder = resolve(out, `${tool}-processes`); // the tool has a folder of its own to start from
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** `--tool memcheck|racecheck` asks for one of them; the other flags are vitest's. */
function toolsOf(flags: readonly string[]) {
  const at = flags.indexOf('--tool');
  if (at < 0) return { wanted: Object.keys(tools) as Tool[], flags };
  const tool = flags[at + 1] ?? '';
  if (!(tool in tools)) throw new Error(`--tool is ${tool}, expected memcheck or racecheck`);
  return { wanted: [tool as Tool], flags: flags.toSpliced(at, 2) };
}

function check(
  root: string,
  command: HostCommand,
  tool: Tool,
  environment: Readonly<Record<string, string>>,
): Checked {
  const folder = logFolder(command.out, tool);
  const run = runVitest({
    root,
    workers: workersUnderTool,
    // Node itself and its workers are slow under the tool.
    args: [
      ...projectArguments(root),
      '--testTimeout=600000',
      '--hookTimeout=600000',
      ...(command.flags.includes('-t') ? [] : ['-t', onCuda]),
      ...command.flags,
      ...(command.filters.length > 0 ? command.filters : parityFiles(root, projects(root))),
    ],
    environment: {
      ...environment,
      CUDA_RUNTIME_SANITIZER: tool, // kernels do not overlap then, and tests do not ask for it
      NODE_OPTIONS: `--import=${exitOnSigterm}`,
    },
    under: [
      'compute-sanitizer',
      ...tools[tool],
      '--target-processes=all',
      `--log-file=${join(folder, '%p.log')}`,
    ],
  });
  const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const found = readFindings(logs);
  if (command.out !== undefined) {
    writeFileSync(join(command.out, `${tool}.log`), logs.join('\n'));
  }
  const passed = run.suites.reduce((sum, suite) => sum + suite.passed, 0);
  process.stdout.write(suiteTable(run));
  for (const line of found.lines) process.stdout.write(`${line}\n`);
  const isClean = run.status === 0 && found.findings === 0 && found.summaries > 0 && passed > 0;
  return { tool, passed, status: isClean ? 0 : run.status || 1, ...found };
}
