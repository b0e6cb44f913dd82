import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { addonIn } from '../../src/native/addon-candidates.js';
import { cli, root } from './run-cli.js';

const empty = mkdtempSync(join(tmpdir(), 'cli-'));
afterAll(() => rmSync(empty, { recursive: true }));

describe('doctor', () => {
  test('shows Node, the addon, each backend and the tools, and ends with 0', () => {
    const { status, stdout, stderr } = cli(['doctor']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`ok +Node +${process.versions.node}, Node-API \\d+`));
    expect(stdout).toContain(`loaded ${addonIn(join(root, 'build'))}`);
    expect(stdout).toMatch(/ok +cpu /);
    expect(stdout).toMatch(/(ok +cuda +\d|ok +cuda|no +cuda +[A-Z_]+: .+\n +\S)/);
    for (const tool of ['cmake', 'compiler', 'make', 'CUDA toolkit'])
      expect(stdout).toContain(tool);
  });

  test('lists what was tried, with each reason, and ends with 1 where nothing loads', () => {
    const { status, stdout } = cli(['doctor', '--json'], { CUDA_RUNTIME_BINARY: '/absent.node' });
    const report = JSON.parse(stdout);
    expect(status).toBe(1);
    expect(report.addon).toEqual([
      {
        what: 'CUDA_RUNTIME_BINARY',
        path: '/absent.node',
        outcome: 'failed',
        reason: '/absent.node is not there',
      },
    ]);
    for (const backend of report.backends) {
      expect(backend).toMatchObject({
        usable: false,
        reason: 'NO_ADDON',
        hint: expect.any(String),
      });
    }
  });

  test('keeps the load order: the build folder, the local build, the platform package', () => {
    const { status, stdout } = cli(['doctor', '--json'], { CUDA_RUNTIME_BUILD_DIR: 'relative' });
    const { addon } = JSON.parse(stdout) as { addon: Record<string, string>[] };
    expect(status).toBe(0);
    expect(addon.map(({ what }) => what)).toEqual([
      'CUDA_RUNTIME_BUILD_DIR',
      'local build',
      `@altstream/cuda-runtime-${process.platform}-${process.arch}`,
    ]);
    expect(addon[0]?.['reason']).toBe('relative/Release/cuda_runtime.node is not an absolute path');
    expect(addon[1]).toMatchObject({ outcome: 'loaded', path: addonIn(join(root, 'build')) });
    expect(addon[2]?.['outcome']).not.toBe('loaded');
  });
});

describe('build', () => {
  test('without tools names each one with the command that installs it', () => {
    const { status, stderr } = cli(['build'], { PATH: empty });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^cuda-runtime: cannot build, this is missing:\n/);
    expect(stderr).toMatch(/ {2}cmake: not found on PATH\n {4}Install cmake 3\.24 or newer: .+\n/);
    expect(stderr).toMatch(
      / {2}compiler: no c\+\+, g\+\+, clang\+\+ on PATH\n {4}Install a C\+\+20/,
    );
  });

  test('that must have CUDA names a toolkit that does not run; an option wins over CRT_CUDA', () => {
    const nvcc = join(empty, 'bin', 'nvcc');
    mkdirSync(dirname(nvcc));
    writeFileSync(nvcc, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    const variables = { PATH: empty, CRT_CUDA: 'ON', CRT_CUDA_ROOT: empty };
    expect(cli(['build'], variables).stderr).toContain(`CUDA toolkit: ${nvcc} does not run`);
    const { status, stderr } = cli(['build', '--CDCRT_CUDA=OFF'], variables);
    expect([status, stderr]).toEqual([1, expect.not.stringContaining('CUDA toolkit')]);
  });

  test('shows what cmake said when it refuses, and where the whole of it is', () => {
    const args = ['build', '--CDCRT_CUDA=OFF', '--CDCRT_SANITIZE=dirt'];
    const { status, stderr } = cli(args, { CUDA_RUNTIME_BUILD_DIR: empty });
    expect(status).toBe(1);
    expect(stderr).toContain('CRT_SANITIZE=dirt is not one of none');
    expect(stderr).toContain(join(empty, 'cuda-runtime-build.log'));
  });

  test('wants an absolute CUDA_RUNTIME_BUILD_DIR', () => {
    const { status, stderr } = cli(['build'], { CUDA_RUNTIME_BUILD_DIR: 'out' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('expected an absolute path')]);
  });

  test.each([';', '"', '\\', '#', '\n'])('refuses %j in CUDA_RUNTIME_BUILD_DIR', (character) => {
    const named = join(empty, `a${character}b`);
    const { status, stderr } = cli(['build'], { CUDA_RUNTIME_BUILD_DIR: named });
    expect(status).toBe(1);
    expect(stderr).toBe(
      `cuda-runtime: CUDA_RUNTIME_BUILD_DIR is ${JSON.stringify(named)}, with ${JSON.stringify(character)} in it, ` +
        'expected a path without ; " \\ # and line ends, in which CMake cannot build\n',
    );
    expect(existsSync(named)).toBe(false);
  });

  test("takes what looks odd and is none of CMake's", () => {
    const args = ['build', '--CDCRT_CUDA=OFF', '--CDCRT_SANITIZE=dirt'];
    const named = join(empty, "o'dd $ (name) & `more`");
    const { stderr } = cli(args, { CUDA_RUNTIME_BUILD_DIR: named });
    expect(stderr).toContain('CRT_SANITIZE=dirt is not one of none');
  });

  test('makes the folder of CUDA_RUNTIME_BUILD_DIR with those above it, or says why not', () => {
    const folder = join(empty, 'a', 'b', 'c');
    const build = (named: string) =>
      cli(['build', '--CDCRT_CUDA=OFF', '--CDCRT_SANITIZE=dirt'], {
        CUDA_RUNTIME_BUILD_DIR: named,
      });
    for (const named of [folder, folder, `${folder}/../d/`]) {
      expect(build(named).stderr).toContain('CRT_SANITIZE=dirt is not one of none');
    }
    expect(readdirSync(join(empty, 'a', 'b'))).toEqual(['c', 'd']);
    writeFileSync(join(folder, 'file'), '');
    const named = join(folder, 'file', 'x', 'y');
    const { status, stderr } = build(named);
    expect([status, stderr]).toEqual([1, expect.stringContaining(refusal(named, 'ENOTDIR'))]);
  });

  // Node's own way to make folders one in another never comes back from there.
  test.skipIf(process.platform !== 'linux')(
    'refuses at once to build below /proc',
    () => {
      for (const named of ['/proc/zz', '/proc/x/y']) {
        const { status, signal, stderr } = cli(['build'], { CUDA_RUNTIME_BUILD_DIR: named });
        expect([status, signal]).toEqual([1, null]);
        expect(stderr).toContain(refusal(named, 'ENOENT'));
      }
    },
    110_000,
  );
});

const refusal = (folder: string, code: string) =>
  `CUDA_RUNTIME_BUILD_DIR is ${folder}, which cannot be written (${code}); name another folder`;

test.each([
  [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  [['--help'], 0, /^Usage: cuda-runtime/],
  [['destroy'], 2, /^$/],
])('%j ends with %i', (args, code, output) => {
  const { status, stdout } = cli(args);
  expect([status, stdout]).toEqual([code, expect.stringMatching(output)]);
});
