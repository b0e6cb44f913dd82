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
  const report = JSON.parse(execFileSync(process.execPath, [child, addon], { encoding: 'utf8' }));
  expect(report).toEqual({
    codes: ['device.createStream CRT_OOM', 'open CRT_OOM', 'runtime.loadModule CRT_OOM'],
    pending: 0,
  });
});
