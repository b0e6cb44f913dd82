import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostCommand } from './host-command.js';
import { parityFiles } from './parity-files.js';
import { projectArguments, projects } from './projects.js';
import { requiredCuda } from './required-cuda.js';
import { runVitest } from './run-vitest.js';
import { readFindings, type SanitizerFindings } from './sanitizer-log.js';
import { saveResults } from './save-results.js';
import { suiteTable } from './suite-table.js';

const tools = ['memcheck', 'racecheck'] as const;

// So suites for each backend are called.
const onCuda = '\\bon cuda\\b';

const exitOnSigterm = new URL('exit-on-sigterm.mjs', import.meta.url).href;

interface Checked extends SanitizerFindings {
  readonly tool: string;
  readonly passed: number;
  readonly status: number;
}

/**
 * The parity cases on CUDA, once under each tool. Fails on a finding, on a failed test, and if no process
 * with a CUDA context was looked at.
 */
export async function sanitize(root: string, command: HostCommand): Promise<number> {
  const { error } = spawnSync('compute-sanitizer', ['--version']);
  if (error) {
    throw new Error('compute-sanitizer is not on the PATH; it comes with the CUDA toolkit');
  }
  const environment = await requiredCuda();
  const checked = tools.map((tool) => check(root, command, tool, environment));
  await saveResults(command, 'sanitize.json', checked);
  const lines = checked.map(({ tool, processes, findings, passed, status }) =>
    [
      tool.padEnd(10),
      `${processes} processes, ${findings} findings, ${passed} tests passed`,
      status === 0 ? '' : 'FAILED',
    ].join(' '),
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return checked.every(({ status }) => status === 0) ? 0 : 1;
}

function check(
  root: string,
  command: HostCommand,
  tool: string,
  environment: Readonly<Record<string, string>>,
): Checked {
  const folder = mkdtempSync(join(tmpdir(), `altstream-${tool}-`));
  const run = runVitest({
    root,
    // Node itself and its workers are slow under the tool.
    args: [
      ...projectArguments(root),
      '--testTimeout=600000',
      '--hookTimeout=600000',
      ...(command.flags.includes('-t') ? [] : ['-t', onCuda]),
      ...command.flags,
      ...(command.filters.length > 0 ? command.filters : parityFiles(root, projects(root))),
    ],
    environment: { ...environment, NODE_OPTIONS: `--import=${exitOnSigterm}` },
    under: [
      'compute-sanitizer',
      `--tool=${tool}`,
      '--target-processes=all',
      `--log-file=${join(folder, '%p.log')}`,
    ],
  });
  const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const found = readFindings(logs);
  const passed = run.suites.reduce((sum, suite) => sum + suite.passed, 0);
  process.stdout.write(suiteTable(run));
  for (const line of found.lines) process.stdout.write(`${line}\n`);
  const isClean = run.status === 0 && found.findings === 0 && found.processes > 0 && passed > 0;
  return { tool, passed, status: isClean ? 0 : run.status || 1, ...found };
}
