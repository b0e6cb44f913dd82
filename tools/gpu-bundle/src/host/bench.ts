import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { probe } from '@altstream/cuda-runtime';
import { suiteFolder } from '../bundled-packages.js';
import { benchTable, type SavedBench } from './bench-table.js';
import type { HostCommand } from './host-command.js';
import { projects } from './projects.js';

/** Every bench on each backend that is present, or on the one of `--backend`. */
export async function bench(root: string, command: HostCommand): Promise<number> {
  const out = resolve(command.out ?? mkdtempSync(join(tmpdir(), 'altstream-bench-')));
  mkdirSync(out, { recursive: true });
  const started = Date.now();
  let status = 0;
  for (const backend of await backends(command)) {
    process.stdout.write(`\n══ ${backend} ══\n`);
    status ||= runBenches(root, out, command, backend);
  }
  process.stdout.write(benchTable(readSaved(out, started)));
  process.stdout.write(`results: ${out}\n`);
  return status;
}

async function backends({ flags }: HostCommand): Promise<readonly string[]> {
  if (flags.includes('--backend')) return [flags[flags.indexOf('--backend') + 1] ?? ''];
  const reports = await probe();
  for (const { backend, usable, reason, detail } of reports) {
    if (!usable) process.stdout.write(`no ${backend}: ${reason}, ${detail}\n`);
  }
  return reports.flatMap(({ backend, usable }) => (usable ? [backend] : []));
}

function runBenches(root: string, out: string, command: HostCommand, backend: string): number {
  const filters =
    command.filters.length > 0
      ? command.filters
      : projects(root).map((name) => `${suiteFolder(root, name)}/`);
  const flags = command.flags.includes('--backend')
    ? command.flags
    : [...command.flags, '--backend', backend];
  const script = join(root, 'tools/bench/src/main.ts');
  const args = ['--conditions=@altstream/source', '--import', 'tsx', script];
  const { status } = spawnSync(process.execPath, [...args, ...filters, ...flags, '--out', out], {
    cwd: root,
    stdio: 'inherit',
  });
  return status ?? 1;
}

function readSaved(out: string, since: number): readonly SavedBench[] {
  return readdirSync(out)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name): Partial<SavedBench> => JSON.parse(readFileSync(join(out, name), 'utf8')))
    .flatMap(({ bench: of, device, rows, date }) =>
      of && device && rows && date && Date.parse(date) >= since
        ? [{ bench: of, device, rows, date }]
        : [],
    );
}
