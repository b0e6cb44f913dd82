import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { buildingTests, gpuPackages, withDependencies } from './bundled-packages.js';
import { moduleClosure } from './module-closure.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('the packages of a bundle', () => {
  test('are those with CUDA code, and what they need comes with them', () => {
    expect(gpuPackages(root)).toContain('cuda-runtime');
    const folders = withDependencies(root, ['moe-kernels']).map(({ folder }) => folder);
    expect(folders).toContain('packages/moe-kernels');
    expect(folders).toContain('packages/dense-kernels');
    expect(folders).toContain('packages/cuda-runtime');
    expect(new Set(folders).size).toBe(folders.length);
  });

  test('are programs; weights stay where they are', () => {
    const folders = withDependencies(root, ['minimax-m3-model']).map(({ folder }) => folder);
    expect(folders).toContain('tools/hash-checkpoint');
    expect(folders).not.toContain('packages/minimax-m3-tiny');
  });

  test('are also the whole model and the engine, with what their tests import', () => {
    expect(gpuPackages(root)).toEqual(expect.arrayContaining(['minimax-m3-model', 'engine']));
    const packages = withDependencies(root, ['minimax-m3-model', 'engine', 'server']);
    const folders = packages.map(({ folder }) => folder);
    expect(folders).toEqual(expect.arrayContaining(['tools/hash-checkpoint', 'apps/server']));
    const engine = packages.find(({ folder }) => folder === 'packages/engine');
    expect(engine?.dependencies).toEqual(['fast-check', 'vitest']);
  });

  test('that do not exist are named', () => {
    expect(() => withDependencies(root, ['no-such'])).toThrow('packages/no-such is no package');
  });

  test.each(buildingTests)('%s, which is left out, exists', (file) => {
    expect(existsSync(join(root, file))).toBe(true);
  });
});

describe('the npm packages of a bundle', () => {
  test('are all that vitest needs, once a version', () => {
    const modules = moduleClosure([{ name: 'vitest', from: root }]);
    const names = modules.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['vitest', 'vite', 'rolldown', '@vitest/runner']));
    expect(names).not.toContain('lightningcss');
    const versions = modules.map(({ name, version }) => `${name}@${version}`);
    expect(new Set(versions).size).toBe(versions.length);
    expect(new Set(modules.map(({ to }) => to)).size).toBe(modules.length);
  });

  test('that are not installed are named', () => {
    expect(() => moduleClosure([{ name: 'no-such-package', from: root }])).toThrow(
      'no-such-package is not installed',
    );
  });
});
