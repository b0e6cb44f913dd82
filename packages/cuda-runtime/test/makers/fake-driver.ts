import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { probeSync } from '../../src/index.js';

const run = promisify(execFile);

/** What a process says of CUDA: its probe, and the error of `open`. */
export interface CudaAnswer {
  readonly reason: string;
  readonly detail: string;
  readonly code: string;
  /** `reason` of the error. */
  readonly opened: string;
  readonly hint: string;
}

/** Why no driver can be made up here; undefined where it can. */
export function whyNoFakeDriver(): string | undefined {
  const report = probeSync().find(({ backend }) => backend === 'cuda');
  if (report?.reason === 'BUILT_WITHOUT_CUDA') return 'the addon was built without CUDA';
  if (spawnSync('cc', ['--version']).status !== 0) return 'no C compiler to make a driver with';
  return undefined;
}

/**
 * Looks for CUDA in a process that finds a driver of this version (11040 is 11.4) which answers
 * every call with `error`.
 */
export async function withFakeDriver(version: number, error: number): Promise<CudaAnswer> {
  const folder = mkdtempSync(join(tmpdir(), 'fake-driver-'));
  try {
    const source = join(folder, 'driver.c');
    writeFileSync(source, driver(version, error));
    await run('cc', ['-shared', '-fPIC', '-o', join(folder, 'libcuda.so.1'), source]);
    return await askProcess('', { LD_LIBRARY_PATH: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same with what the machine has, after `first` has run there. */
export async function askProcess(first: string, env: NodeJS.ProcessEnv = {}): Promise<CudaAnswer> {
  const index = new URL('../../src/index.ts', import.meta.url).href;
  const code = `${first}
    const { open, probeSync } = await import(${JSON.stringify(index)});
    const { reason, detail } = probeSync().find(({ backend }) => backend === 'cuda');
    const { code, reason: opened, hint } = await open({ backend: 'cuda' }).catch((thrown) => thrown);
    console.log(JSON.stringify({ reason, detail, code, opened, hint }));`;
  const options = ['--import', 'tsx', '--conditions=@altstream/source', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...options, '-e', code], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout);
}

const driver = (version: number, error: number) => `
#include <string.h>
int cuDriverGetVersion(int* version) { *version = ${version}; return 0; }
static int answer(void) { return ${error}; }
int cuInit(unsigned flags) { return answer(); }
int cuGetProcAddress_v2(const char* name, void** found, int version, unsigned long long flags, int* status) {
  *found = !strcmp(name, "cuDriverGetVersion") ? (void*)cuDriverGetVersion
         : !strcmp(name, "cuGetProcAddress") ? (void*)cuGetProcAddress_v2 : (void*)answer;
  if (status) *status = 0;
  return 0;
}
`;
