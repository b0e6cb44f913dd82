import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { probeSync } from '../../src/index.js';

const run = promisify(execFile);

test('#40: a driver that is too old is refused with its version and the one needed', async ({
  skip,
}) => {
  const report = probeSync().find(({ backend }) => backend === 'cuda');
  if (report?.reason === 'BUILT_WITHOUT_CUDA') skip('the addon was built without CUDA');
  if (spawnSync('cc', ['--version']).status !== 0) skip('no C compiler to make an old driver with');
  const folder = mkdtempSync(join(tmpdir(), 'old-driver-'));
  try {
    const source = join(folder, 'driver.c');
    writeFileSync(source, 'int cuDriverGetVersion(int* v) { *v = 11040; return 0; }\n');
    await run('cc', ['-shared', '-fPIC', '-o', join(folder, 'libcuda.so.1'), source]);
    const index = new URL('../../src/index.ts', import.meta.url).href;
    const code = `
      const { open, probeSync } = await import(${JSON.stringify(index)});
      const { reason, detail } = probeSync().find(({ backend }) => backend === 'cuda');
      const error = await open({ backend: 'cuda' }).catch((thrown) => thrown);
      console.log(JSON.stringify({ reason, detail, code: error.code, opened: error.reason }));`;
    const options = ['--import', 'tsx', '--conditions=@altstream/source', '--input-type=module'];
    const env = { ...process.env, LD_LIBRARY_PATH: folder };
    const { stdout } = await run(process.execPath, [...options, '-e', code], { env });
    expect(JSON.parse(stdout)).toEqual({
      reason: 'DRIVER_TOO_OLD',
      detail: expect.stringMatching(/supports CUDA 11\.4, this build needs 13\.\d/),
      code: 'CRT_UNAVAILABLE',
      opened: 'DRIVER_TOO_OLD',
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
