import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const headers = headersOfBuild();
const why = headers ? '' : ' (skipped: the addon was built without NVTX headers)';

test.skipIf(!headers)(
  `a tool that listens gets the ranges, in the domain cuda-runtime${why}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nvtx-'));
    try {
      const tool = join(folder, 'tool.so');
      const source = join(root, 'test/observability/nvtx-tool.cpp');
      await run('c++', ['-std=c++20', '-shared', '-fPIC', `-I${headers}`, '-o', tool, source]);
      expect(await outputOfProgram({ NVTX_INJECTION64_PATH: tool })).toEqual([
        'push cuda-runtime: step',
        'push cuda-runtime: capture main',
        'push cuda-runtime: withStream main',
        'pop',
        'pop',
        'pop',
        'push cuda-runtime: instantiate',
        'pop',
        'push cuda-runtime: launch graph',
        'pop',
        'done 7',
      ]);
      expect(await outputOfProgram({})).toEqual(['done 7']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

async function outputOfProgram(more: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const program = `
    import { nvtx, open } from './src/index.ts';
    const runtime = await open({ backend: 'cpu' });
    const device = runtime.device();
    const stream = runtime.currentStream();
    const buffer = device.alloc(4);
    const graph = nvtx.range('step', () =>
      device.capture(() => void stream.fill(buffer, 1), { stream }));
    graph.instantiateSync().launch(stream);
    await stream.synchronize();
    console.log('done', nvtx.range.length + 5);
  `;
  const flags = ['--import', 'tsx', '--conditions=@altstream/source', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...flags, '--eval', program], {
    cwd: root,
    env: { ...process.env, ...more },
  });
  return stdout.trim().split('\n');
}

function headersOfBuild(): string | undefined {
  const cache = join(root, 'build/CMakeCache.txt');
  if (!existsSync(cache)) return undefined;
  const found = /^CRT_NVTX_INCLUDE:PATH=(\/.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
  return found && existsSync(join(found, 'nvtx3/nvToolsExt.h')) ? found : undefined;
}
