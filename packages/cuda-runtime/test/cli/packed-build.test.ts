import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permissionsHold, UnpackedPackage } from './unpacked-package.js';

const folder = mkdtempSync(join(tmpdir(), 'packed-'));
const out = join(folder, 'out');
const addon = join(out, 'Release', 'cuda_runtime.node');
const precompiled = join(folder, 'precompiled.cmake');
/** Unoptimised and with precompiled headers: the compiler's time is most of the test's. */
const quick = [
  '--CDCRT_CUDA=OFF',
  '--CDCMAKE_BUILD_TYPE=None',
  '--CDCMAKE_CXX_FLAGS=-O0',
  `--CDCMAKE_PROJECT_INCLUDE=${precompiled}`,
];
const program = `
  import { open, Tensor } from '@altstream/cuda-runtime';
  const runtime = await open({ backend: 'cpu' });
  const stream = runtime.currentStream();
  const tensor = Tensor.allocate(runtime.device(), [2], 'f32', { stream });
  stream.write(tensor, Float32Array.of(1, 2));
  const values = new Float32Array(2);
  await stream.read(tensor, values);
  console.log(values.join(' '));
  await runtime.dispose();
`;
/** Files that a page gives: each a line with its name, then its text. */
function filesOf(page: string): readonly (readonly [name: string, text: string])[] {
  const files = readFileSync(page, 'utf8').matchAll(/^`([\w./-]+)`[^\n]*:\n\n```\w+\n(.*?)^```/gms);
  return [...files].map(([, name = '', text = '']) => [name, text]);
}

let project: UnpackedPackage;

beforeAll(async () => {
  project = await UnpackedPackage.create(folder);
  // Beside the project, since the project's user may not read the repository.
  cpSync(new URL('../fixtures/quick-build/precompiled.cmake', import.meta.url), precompiled);
  mkdirSync(out);
  chmodSync(out, 0o777);
  writeFileSync(join(folder, 'program.mjs'), program);
  project.makeReadOnly();
}, 60_000);

afterAll(() => {
  project?.makeWritable();
  rmSync(folder, { recursive: true, force: true });
});

describe('a package that was installed where its user cannot write', () => {
  test('names the command that builds the addon it has not', async () => {
    const { code, stderr } = await project.node(['program.mjs']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('NO_ADDON')]);
    expect(stderr).toContain('npx @altstream/cuda-runtime build');
  });

  const refuses = 'does not build without CUDA_RUNTIME_BUILD_DIR, and asks for it';
  test.skipIf(!permissionsHold)(refuses, async () => {
    const { code, stderr } = await project.cli(['build', ...quick]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/build cannot be written \(EACCES\)/),
    ]);
    expect(stderr).toContain('CUDA_RUNTIME_BUILD_DIR');
  });

  test('builds there, and programs load what was built', { timeout: 400_000 }, async () => {
    const variables = { CUDA_RUNTIME_BUILD_DIR: out };
    const { code, stderr } = await project.cli(['build', ...quick], variables);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`built and loaded ${addon}`);
    expect(stderr).toContain('keep CUDA_RUNTIME_BUILD_DIR set');
    const ended = await project.node(['program.mjs'], variables);
    expect(ended).toEqual({ code: 0, stdout: '1 2\n', stderr: '' });
    expect(existsSync(join(project.root, 'build'))).toBe(false);
  });

  test('builds and runs the kernels of docs/kernels.md', { timeout: 200_000 }, async () => {
    const example = join(folder, 'my-kernels');
    for (const [name, text] of filesOf(join(project.root, 'docs/kernels.md'))) {
      mkdirSync(dirname(join(example, name)), { recursive: true });
      writeFileSync(join(example, name), text);
    }
    for (const args of [
      ['-S', example, '-B', join(example, 'build')],
      ['--build', join(example, 'build')],
    ]) {
      const env = { ...process.env, CRT_GENCODE: '90a' };
      const { status, stderr } = spawnSync('cmake', args, { env, encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    }
    const program = join(example, 'program.js');
    const ended = await project.node([program], { CUDA_RUNTIME_BUILD_DIR: out });
    expect(ended).toEqual({ code: 0, stdout: '10 20 30 40\n', stderr: '' });
  });

  test('says that the build was made without CUDA', async () => {
    const variables = { CUDA_RUNTIME_BUILD_DIR: out };
    const { code, stdout } = await project.cli(['doctor', '--backend=cuda'], variables);
    expect(code).toBe(1);
    expect(stdout).toMatch(/no +cuda +BUILT_WITHOUT_CUDA/);
    expect(stdout).toContain('npx @altstream/cuda-runtime build --CDCRT_CUDA=ON');
  });

  test('does not load a platform package for a newer glibc', async () => {
    const platform = `${project.root}-${process.platform}-${process.arch}`;
    mkdirSync(platform);
    const manifest = { name: 'platform', version: '0.0.0', config: { glibc: '99.1' } };
    writeFileSync(join(platform, 'package.json'), JSON.stringify(manifest));
    // A file that can be loaded: only the recorded floor speaks against it.
    symlinkSync(addon, join(platform, 'cuda_runtime.node'));
    const { code, stdout } = await project.cli(['doctor', '--json']);
    const { addon: attempts, backends } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(attempts.at(-1).reason).toMatch(/^LIBC: it needs glibc 99\.1 or newer, this system has/);
    expect(backends[0]).toMatchObject({ usable: false, reason: 'LIBC' });
    expect(backends[0].hint).toContain('npx @altstream/cuda-runtime build');
  });
});
