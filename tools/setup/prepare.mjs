// What `npm start` and `npm test` do first, on a machine that has Node, cmake and a C++ compiler:
// check those three, get pnpm, install the locked packages, build native code and TypeScript.
// Plain JavaScript without dependencies, since nothing is installed yet when it runs.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rememberBuild } from './build-stamp.mjs';
import { nativeReport } from './native-report.mjs';
import { checkCmake, checkNode, findCompiler, findTool, SetupError } from './requirements.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Environment of every child: the repository's own pnpm first on the path, no telemetry. */
const environment = {
  ...process.env,
  PATH: [join(root, '.tools', 'bin'), process.env['PATH'] ?? ''].join(delimiter),
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

/** Checks the machine, installs and builds. Throws a `SetupError` that says what to do. */
export function prepare() {
  checkNode(process.versions.node);
  checkCmake(
    findTool('cmake', 'cmake 3.24 or newer builds the native parts', 'apt-get install cmake'),
  );
  findCompiler();
  installPnpm();
  step('install packages', 'pnpm', [
    'install',
    '--frozen-lockfile',
    '--prefer-offline',
    '--fetch-retries=1',
    '--reporter=append-only',
  ]);
  step('build', 'pnpm', [
    'exec',
    'turbo',
    'run',
    'build:native',
    'build',
    '--output-logs=errors-only',
  ]);
  rememberBuild(root);
  process.stderr.write(`altstream: ${nativeReport(join(root, 'packages'))}\n`);
}

/** Runs a command in the repository with inherited output; returns its exit code. */
export function run(command, args, extra = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...environment, ...extra },
  });
  if (result.error) throw new SetupError(`cannot run ${command}: ${result.error.message}`);
  return result.status ?? 1;
}

/** Runs `main` and turns a `SetupError` into one clear message and exit code 1. */
export function orExplain(main) {
  try {
    process.exitCode = main();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`\naltstream: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function step(name, command, args) {
  process.stderr.write(`altstream: ${name} …\n`);
  const started = performance.now();
  const status = run(command, args);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== 0) {
    throw new SetupError(`step "${name}" failed with exit code ${status}; the lines above say why`);
  }
  process.stderr.write(`altstream: ${name}: ${seconds} s\n`);
}

/** Puts the pnpm of `packageManager` under .tools, without touching anything global. */
function installPnpm() {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wanted = packageManager.split('@')[1].split('+')[0];
  const present = spawnSync('pnpm', ['--version'], {
    cwd: root,
    env: environment,
    encoding: 'utf8',
  });
  if (present.status === 0 && present.stdout.trim() === wanted) return;
  step(`get pnpm ${wanted}`, 'npm', [
    'install',
    '--global',
    '--prefix',
    join(root, '.tools'),
    '--no-audit',
    '--no-fund',
    '--fetch-retries=1',
    `pnpm@${wanted}`,
  ]);
  if (!existsSync(join(root, '.tools', 'bin', 'pnpm'))) {
    throw new SetupError(`npm did not put pnpm into ${join(root, '.tools')}`);
  }
}
