import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildTools } from '../../src/cli/build-tools.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tools-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

function find(name: string, variables = {}, needsCuda = false) {
  const tools = buildTools({ PATH: folder, ...variables }, needsCuda);
  return tools.find((tool) => tool.name === name);
}

test('with nothing on PATH every required tool has a command that installs it', () => {
  const missing = buildTools({ PATH: folder }, false).filter(({ isRequired }) => isRequired);
  expect(missing.map(({ name }) => name)).toEqual(['cmake', 'compiler', 'make']);
  for (const { isUsable, hint } of missing) {
    expect([isUsable, hint]).toEqual([false, expect.stringMatching(/^Install /)]);
  }
});

test.each([
  ['3.18.4', false],
  ['3.24.0', true],
  ['4.1.2', true],
])('cmake %s is usable: %s', (version, isUsable) => {
  const path = program('cmake', `echo "cmake version ${version}"`);
  expect(find('cmake')).toMatchObject({ isUsable, path, detail: expect.stringContaining(version) });
  if (!isUsable) expect(find('cmake')?.hint).toContain('pip install cmake');
});

test('a compiler counts when it compiles C++20', () => {
  const path = program('g++', 'case "$*" in *-std=c++20*) exit 1;; esac; echo "g++ 9.4.0"');
  const detail = 'g++ 9.4.0: cannot compile C++20';
  expect(find('compiler')).toMatchObject({ isUsable: false, path, detail });
  program('clang++', 'echo "clang 17"');
  expect(find('compiler', { CXX: 'clang++' })).toMatchObject({
    isUsable: true,
    detail: 'clang 17',
  });
  expect(find('compiler', { CXX: 'icpx' })?.detail).toBe('CXX names icpx, which is no program');
});

test('CXX may have arguments, as in CMake', () => {
  const path = program('ccache', 'test "$1" = g++ && echo "g++ 13"');
  const found = { isUsable: true, path, detail: 'g++ 13' };
  expect(find('compiler', { CXX: 'ccache g++ -m64' })).toMatchObject(found);
  expect(find('compiler', { CXX: 'ccache' })?.isUsable).toBe(false);
});

test('a compiler that fails to start is not usable', () => {
  const path = join(folder, 'c++');
  writeFileSync(path, '\x7fELF');
  chmodSync(path, 0o755);
  const detail = 'does not run: cannot compile C++20';
  expect(find('compiler')).toMatchObject({ isUsable: false, detail });
});

test('ninja is preferred to make, and CMAKE_GENERATOR to both', () => {
  const make = program('make', '');
  expect(find('make')).toMatchObject({ isUsable: true, path: make });
  const ninja = program('ninja', '');
  expect(find('make')).toMatchObject({ isUsable: true, path: ninja });
  expect(find('make', { CMAKE_GENERATOR: 'Xcode' })?.detail).toContain('Xcode');
});

test('the toolkit is required only where CUDA is, and its folder can be named', () => {
  const root = join(folder, 'toolkit');
  mkdirSync(join(root, 'bin'), { recursive: true });
  const nvcc = program('toolkit/bin/nvcc', 'echo "Cuda compilation tools, release 12.8, V12.8.93"');
  const found = { isUsable: true, isRequired: false, path: nvcc, detail: '12.8' };
  expect(find('CUDA toolkit', { CRT_CUDA_ROOT: root })).toEqual({ name: 'CUDA toolkit', ...found });
  program('nvcc', 'exit 3');
  const broken = {
    isUsable: false,
    isRequired: true,
    detail: expect.stringMatching(/does not run/),
  };
  expect(find('CUDA toolkit', {}, true)).toMatchObject(broken);
  program('toolkit/bin/nvcc', 'exit 3');
  expect(find('CUDA toolkit', { CRT_CUDA_ROOT: root })).toMatchObject(broken);
  const off = find('CUDA toolkit', { CRT_CUDA_ROOT: root, CRT_CUDA: 'OFF' });
  expect(off).toMatchObject({ ...broken, isRequired: false });
});
