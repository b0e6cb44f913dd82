// `pnpm bench [filter…] [--save]`: runs the benches whose path holds one of the filters (all without),
// each in a process of its own, one after the other. Every bench checks before it times.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const filters = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));

const failed: string[] = [];
for (const file of benches()) {
  const folder = dirname(dirname(file));
  process.stdout.write(`\n── ${basename(folder)} ──\n`);
  const args = ['--conditions=@altstream/source', '--import', 'tsx', file, ...flags];
  const { status } = spawnSync(process.execPath, args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) failed.push(file);
}
for (const file of failed) process.stdout.write(`failed: ${file.slice(root.length)}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

function benches(): string[] {
  return ['packages', 'apps']
    .flatMap((top) => readdirSync(join(root, top)).map((name) => join(root, top, name, 'bench')))
    .flatMap((folder) => listBenches(folder))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)));
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
