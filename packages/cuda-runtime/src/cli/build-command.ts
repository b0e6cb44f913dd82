import { spawnSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { addonIn } from '../native/addon-candidates.js';
import { packageRoot } from '../native/package-root.js';
import { buildFolder } from './build-folder.js';
import { type BuildTool, buildTools } from './build-tools.js';
import { cmakeArguments } from './cmake-arguments.js';
import { type BuildLine, CommandError } from './command-line.js';
import { wrongCudaSetting } from './cuda-settings.js';
import type { Variables } from './find-program.js';
import { verifyAddon } from './verify-addon.js';

/** A compiler of C++20 takes up to this much memory. */
const compilerBytes = 2 ** 30;
const shownLines = 40;

/**
 * `cuda-runtime build`: looks for the tools, builds the addon and loads it in a process of its own.
 *
 * @returns 0, since each failure is a `CommandError`
 */
export function buildCommand({ options, verbose }: BuildLine): number {
  const started = performance.now();
  const variables = buildVariables(options);
  const wrong = wrongCudaSetting(variables, options);
  if (wrong !== undefined) throw new CommandError(wrong);
  const cuda = options['CRT_CUDA'] ?? variables['CRT_CUDA'] ?? 'AUTO';
  const found = buildTools({ ...variables, ...options }, cuda === 'ON');
  const tools = found.filter(({ name }) => cuda !== 'OFF' || name !== 'CUDA toolkit');
  checkTools(tools);
  const root = packageRoot();
  const folder = buildFolder(root, variables);
  const run = runner(folder, variables, verbose);
  tell(`building in ${folder}`);
  const cmake = tools[0]?.path ?? 'cmake';
  const configured = run(cmake, cmakeArguments(folder, { root, tools, options, variables }));
  for (const [, status = ''] of configured.matchAll(/^-- ((?:CUDA|NVTX): .*)$/gm)) tell(status);
  const jobs = Math.max(
    1,
    Math.min(availableParallelism(), Math.floor(totalmem() / compilerBytes)),
  );
  run(cmake, ['--build', folder, '--target', 'cuda_runtime', '--parallel', `${jobs}`]);
  const addon = addonIn(folder);
  verifyAddon(addon, variables);
  tell(`built and loaded ${addon} in ${Math.round((performance.now() - started) / 1000)} s`);
  if (variables['CUDA_RUNTIME_BUILD_DIR']) {
    tell('keep CUDA_RUNTIME_BUILD_DIR set where programs run: the addon is looked for there');
  }
  return 0;
}

/**
 * In CMakeLists.txt an environment variable wins over an option; on this command line it must not.
 */
function buildVariables(options: Readonly<Record<string, string>>): Variables {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !(name in options)));
}

function checkTools(tools: readonly BuildTool[]): void {
  if (process.platform !== 'linux') {
    throw new CommandError(`the addon builds on Linux, this is ${process.platform}`);
  }
  const missing = tools.filter(({ isRequired, isUsable }) => isRequired && !isUsable);
  if (missing.length > 0) {
    const lines = missing.map(({ name, detail, hint }) => `  ${name}: ${detail}\n    ${hint}`);
    throw new CommandError(`cannot build, this is missing:\n${lines.join('\n')}`);
  }
  const optional = tools.find(({ isUsable }) => !isUsable);
  if (optional)
    tell(`${optional.name}: ${optional.detail}; building without CUDA. ${optional.hint}`);
}

/** Runs steps whose output goes to a log in `folder`, and to the terminal when asked for. */
function runner(folder: string, variables: Variables, verbose: boolean) {
  const log = join(folder, 'cuda-runtime-build.log');
  writeFileSync(log, '');
  return (program: string, args: readonly string[]): string => {
    const result = spawnSync(program, args, {
      encoding: 'utf8',
      env: variables,
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = `${result.stdout}${result.stderr}`;
    appendFileSync(log, `$ ${program} ${args.join(' ')}\n${output}`);
    if (verbose) process.stderr.write(output);
    if (result.status === 0) return output;
    const end = result.error?.message ?? `exit code ${result.status ?? result.signal}`;
    const shown = verbose ? '' : `${output.trimEnd().split('\n').slice(-shownLines).join('\n')}\n`;
    throw new CommandError(`${shown}${program} failed (${end}); everything it said is in ${log}`);
  };
}

function tell(line: string): void {
  process.stderr.write(`cuda-runtime: ${line}\n`);
}
