/**
 * `pnpm soak`: a long life in a short time; ends with 0 only if nothing crashed, leaked or was
 * wrong.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commit, deviceName, driverVersion, machineLoad } from '../../bench/machine.js';
import { open } from '../../src/index.js';
import { PlannedError } from './actions/act.js';
import { exposeCollector } from './collector.js';
import { soak } from './soak.js';
import { soakOptions } from './soak-options.js';
import { isGood as isRunGood, verdict } from './verdict.js';

restartWithOneArena();
exposeCollector();
process.on('uncaughtException', (error) => {
  if (error instanceof PlannedError) return;
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
const options = soakOptions(process.argv.slice(2));
const { backend, operations, seed, workers } = options;
const facts = await describe();
process.stdout.write(`soak · ${facts.device} · commit ${facts.commit} · seed ${seed}\n`);
const columns = ['seconds', 'operations', 'rssMiB', 'heapMiB', 'deviceMiB', 'threads', 'files'];
process.stdout.write(`${columns.map((name) => name.padStart(10)).join(' ')}\n`);
const run = await soak(options, (sample) => {
  const line = Object.values(sample).map((value) => String(value).padStart(10));
  process.stdout.write(`${line.join(' ')}\n`);
});
const checks = verdict(run);
const isGood = isRunGood(checks);
for (const [kind, count] of Object.entries(run.counts)) {
  process.stdout.write(`${kind.padEnd(28)} ${String(count).padStart(10)}\n`);
}
process.stdout.write(`operations, all${String(run.operations).padStart(24)}\n`);
for (const { what, value, most } of checks) {
  const judged =
    most === undefined
      ? 'too few samples to judge'
      : `at most ${most}  ${value <= most ? 'ok' : 'FAILED'}`;
  process.stdout.write(`${what.padEnd(28)} ${value.toFixed(2).padStart(10)}  ${judged}\n`);
}
for (const line of run.leftRecords) process.stdout.write(`${line}\n`);
process.stdout.write(
  `${run.sessions} sessions, ${run.runtimes} runtimes, ${run.workers} workers in ${run.seconds.toFixed(0)} s: ${isGood ? 'good' : 'NOT GOOD'}\n`,
);
save();
process.exitCode = isGood ? 0 : 1;

// glibc keeps freed memory of ended threads in arenas of their own, which looks like a leak.
function restartWithOneArena(): void {
  if (process.env['MALLOC_ARENA_MAX'] !== undefined) return;
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const args = [...process.execArgv, ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 1);
}

async function describe() {
  const runtime = await open({ backend, isolated: true });
  const device = deviceName(runtime);
  const driver = driverVersion(runtime);
  await runtime.dispose();
  return { device, ...(driver && { driver }), commit: commit() };
}

function save(): void {
  const results = fileURLToPath(new URL('../../bench/results', import.meta.url));
  const folders = [...(options.isSaved ? [results] : []), ...(options.out ? [options.out] : [])];
  const command = `pnpm soak --operations ${operations} --backend ${backend} --seed ${seed} --workers ${workers}`;
  const head = { soak: backend, ...facts, command, date: new Date().toISOString() };
  const name = facts.device
    .toLowerCase()
    .replace(/^nvidia /, '')
    .replace(/[^a-z0-9]+/g, '-');
  const content = { ...head, ...machineLoad(), isGood, checks, ...run };
  for (const folder of folders) {
    const file = join(folder, `soak-${backend}-${name}.json`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
    process.stdout.write(`result: ${file}\n`);
  }
}
