// `pnpm bench [filter…] [--save] [--out FOLDER] [--threads N] [--backend cpu]`: runs the benches
// whose path holds one of the filters (all without), each in a process of its own, one after the
// other. Every bench checks before it times. The flags go to each bench.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadWarning, startLoad, withStartLoad } from './machine-load.js';
import { splitArguments } from './run-options.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { filters, flags } = splitArguments(process.argv.slice(2));
const load = startLoad();
const warning = loadWarning({ load });
if (warning) process.stdout.write(`${warning}\n`);

const files = benches();
if (files.length === 0) process.stdout.write(`no bench has ${filters.join(' or ')} in its path\n`);
const started = performance.now();
const failed = files.filter((file) => !passes(file));
process.stdout.write(`\n${files.length} benches in ${seconds(started)}\n`);
for (const file of failed) process.stdout.write(`failed: ${relative(root, file)}\n`);
process.exitCode = failed.length === 0 && files.length > 0 ? 0 : 1;

function passes(file: string): boolean {
  const folder = dirname(dirname(file));
  process.stdout.write(`\n── ${basename(folder)} ──\n`);
  const args = ['--conditions=@altstream/source', '--import', 'tsx', file, ...flags];
  const options = { cwd: folder, stdio: 'inherit', env: withStartLoad(load) } as const;
  const begin = performance.now();
  const { status } = spawnSync(process.execPath, args, options);
  process.stdout.write(`${basename(file, '.bench.ts')} took ${seconds(begin)}\n`);
  return status === 0;
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

function benches(): string[] {
  // A bundle for a GPU host may have no apps.
  return ['packages', 'apps']
    .filter((top) => existsSync(join(root, top)))
    .flatMap((top) => readdirSync(join(root, top)).map((name) => join(root, top, name, 'bench')))
    .flatMap((folder) => listBenches(folder))
    .filter((file) => {
      const path = relative(root, file);
      return filters.length === 0 || filters.some((filter) => path.includes(filter));
    });
}

function listBenches(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.bench.ts'))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return []; // a package without benches
  }
}
