import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Runtime } from '@altstream/cuda-runtime';
import type { BenchResult, BenchRow } from './bench-case.js';
import type { MachineLoad } from './machine-load.js';
import { readResult } from './results.js';
import { table } from './table.js';

/** A finished run. */
export interface BenchRunFacts {
  readonly bench: string;
  readonly from: string;
  readonly runtime: Runtime;
  readonly machine: MachineLoad;
  readonly ceilings: Readonly<Record<string, number>>;
  readonly rows: readonly BenchRow[];
  /** What all rows share. */
  readonly setting?: Readonly<Record<string, unknown>>;
  readonly save: boolean;
  /** Another folder to save them in. */
  readonly out?: string | undefined;
}

/** Prints the rows beside the saved ones, and saves them if asked to and all are right. */
export function report(facts: BenchRunFacts): void {
  const { bench, from, runtime, machine, ceilings, rows, setting, save, out } = facts;
  const device = deviceName(runtime);
  const file = new URL(`results/${slug(device)}-${bench}.json`, from);
  const result: BenchResult = {
    bench,
    device,
    ...(runtime.backend === 'cuda' && driverOf()),
    commit: commitOf(new URL('.', from)),
    command: commandOf(bench, process.argv.slice(2), process.env),
    date: new Date().toISOString(),
    ...machine,
    ceilings,
    ...(setting && { setting }),
    rows,
  };
  process.stdout.write(table(result, readResult(file)));
  if (!save && out === undefined) return;
  if (rows.some(({ right }) => !right)) {
    process.stderr.write(`${bench}: a row is wrong, nothing is saved\n`);
    return;
  }
  const files = [...(save ? [file] : []), ...(out ? [inFolder(out, basename(file.pathname))] : [])];
  for (const path of files) {
    mkdirSync(new URL('.', path), { recursive: true });
    writeFileSync(path, `${JSON.stringify(result, null, 1)}\n`);
  }
}

function inFolder(folder: string, name: string): URL {
  return pathToFileURL(join(folder, name));
}

/** The threads that the CPU backend uses; not those of the machine. */
export function threadsOf(runtime: Runtime): number {
  const { threads } = runtime.describe().details;
  return typeof threads === 'number' ? threads : runtime.device().limits.processors;
}

/** What to type for the same run: variables that change what runs belong to it. */
export function commandOf(
  bench: string,
  given: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const variables = ['CUDA_RUNTIME_CPU_LEVEL', 'CUDA_RUNTIME_CPU_THREADS'].flatMap((name) =>
    environment[name] ? [`${name}=${environment[name]}`] : [],
  );
  const file = `bench/${bench}.bench.ts`;
  return [...variables, 'tsx --conditions=@altstream/source', file, ...given].join(' ');
}

function deviceName(runtime: Runtime): string {
  const { name, limits } = runtime.device();
  if (limits.sm !== '') return name;
  return `${cpus()[0]?.model ?? 'cpu'} ${limits.cpuLevel} x${threadsOf(runtime)}`;
}

/** The commit, with a plus if sources differ from it; a bundle hands its own on. */
function commitOf(folder: URL): string {
  const given = process.env['ALTSTREAM_COMMIT'];
  if (given) return given;
  const sources = [':(top)packages/*/src', ':(top)packages/*/native', '.', ':(exclude)results'];
  try {
    const changed = git(folder, ['status', '--porcelain', '-uno', '--', ...sources]);
    return `${git(folder, ['rev-parse', '--short', 'HEAD'])}${changed === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}

/** Version of the GPU's driver, where nvidia-smi tells it. */
function driverOf(): { readonly driver?: string } {
  const query = ['--query-gpu=driver_version', '--format=csv,noheader'];
  try {
    const versions = execFileSync('nvidia-smi', query, { encoding: 'utf8', stdio: 'pipe' });
    return { driver: versions.trim().split('\n')[0] ?? '' };
  } catch {
    return {};
  }
}

function git(cwd: URL, args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/^nvidia /, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
}
