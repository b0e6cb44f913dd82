import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const child = fileURLToPath(new URL('no-memory.cjs', import.meta.url));
const addon = fileURLToPath(new URL('../../build/Release/cuda_runtime.node', import.meta.url));

// util-linux; it lowers the memory limit of a process that runs.
const prlimit = spawnSync('prlimit', ['--version']).status === 0;
const title =
  'bad_alloc inside a call is a thrown CRT_OOM that names the call; the process goes on';

test.skipIf(!prlimit)(`${title}${prlimit ? '' : ' (no prlimit here)'}`, () => {
  // A new arena of a thread takes all that is left, and V8 ends the process when it cannot collect.
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const command = ['--expose-gc', '--single-threaded-gc', child, addon];
  const report = JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8', env }));
  expect(report).toEqual({
    codes: ['device.createStream CRT_OOM', 'open CRT_OOM', 'runtime.loadModule CRT_OOM'],
    pending: 0,
  });
});
