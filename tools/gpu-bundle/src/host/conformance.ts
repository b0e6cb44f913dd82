import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { probe } from '@altstream/cuda-runtime';
import type { HostCommand } from './host-command.js';
import { runVitest } from './run-vitest.js';
import { saveResults } from './save-results.js';
import { suiteTable } from './suite-table.js';

/**
 * The semantics of capture: our API on each backend that is present, then the driver without us.
 */
export async function conformance(root: string, command: HostCommand): Promise<number> {
  const out = resolve(command.out ?? mkdtempSync(join(tmpdir(), 'altstream-conformance-')));
  mkdirSync(out, { recursive: true });
  const args = ['--project=cuda-runtime', ...command.flags, 'conformance'];
  const run = runVitest({ root, args, environment: { CONFORMANCE_OUT: out } });
  await saveResults(command, 'conformance.json', run.suites);
  process.stdout.write(suiteTable(run));
  const driver = await playDriver(join(root, 'packages/cuda-runtime'), out);
  process.stdout.write(`results: ${out}\n`);
  return run.status || driver;
}

// A C++ program; its differences are findings about the driver, printed by itself.
async function playDriver(folder: string, out: string): Promise<number> {
  const program = join(folder, 'build/tests/driver_conformance');
  const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
  if (!cuda?.usable) return say(`the driver was not played: ${cuda?.reason}, ${cuda?.detail}`);
  if (!existsSync(program)) {
    const build = 'pnpm --filter @altstream/cuda-runtime run build:driver-conformance';
    return say(
      `the driver was not played: ${program} is missing; ${build} makes it before packing`,
    );
  }
  const table = join(folder, 'test/conformance/rows');
  const kernels = join(folder, 'build/Release/test_kernels');
  const file = join(out, `conformance-driver-${cuda.driverVersion}.json`);
  const args = ['--table', table, '--kernels', kernels, '--out', file];
  return spawnSync(program, args, { stdio: 'inherit' }).status ?? 1;
}

function say(line: string): number {
  process.stdout.write(`${line}\n`);
  return 0;
}
