import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type BundledPackage, buildingTests } from './bundled-packages.js';
import type { InstalledModule } from './module-closure.js';

/** Of the workspace's root: what vitest and TypeScript read there. */
const rootFiles = [
  'package.json',
  'tsconfig.base.json',
  'vitest.config.ts',
  'tools/check/closing-line-reporter.ts',
];

/** Of a package. */
const packageParts = [
  'package.json',
  'README.md',
  // What tests of the server compare its flags and exit codes with.
  'docs/flags.md',
  'docs/commands.md',
  'tsconfig.json',
  'vitest.config.ts',
  'src',
  'test',
  'bench',
  'dist',
  'native/include',
  'build/Release',
  'build/tests/driver_conformance',
];

/** Nothing that runs; licences stay. */
const unusedFile = /\.(map|d\.[cm]?ts|md|markdown|flow|tsbuildinfo)$/i;

/**
 * Lays out the packages as in the workspace, so that every relative path in them holds.
 * @throws Error naming what has not been built
 */
export function stagePackages(
  root: string,
  packages: readonly BundledPackage[],
  folder: string,
): void {
  for (const file of rootFiles) copy(join(root, file), join(folder, file));
  for (const one of packages) stagePackage(root, one, folder);
  copy(join(root, 'tools/gpu-bundle/host/tsx'), join(folder, 'node_modules/tsx'));
}

/** Lays out npm packages, without what does not run. */
export function stageModules(modules: readonly InstalledModule[], folder: string): void {
  for (const { from, to } of modules) {
    copy(from, join(folder, 'node_modules', to), (path) => {
      return basename(path) !== 'node_modules' && !unusedFile.test(path);
    });
  }
}

function stagePackage(root: string, { name, folder: path }: BundledPackage, folder: string): void {
  const needed = existsSync(join(root, path, 'CMakeLists.txt')) ? ['build/Release', 'dist'] : [];
  for (const part of needed) {
    if (existsSync(join(root, path, part))) continue;
    throw new Error(`${path}/${part} is missing: run pnpm build (or name other --packages)`);
  }
  const skipped = new Set(buildingTests.map((test) => join(root, test)));
  const sources = join(root, path, 'test/native'); // C++ tests, and the tests that build them
  const isWanted = (file: string) => file !== sources && !skipped.has(file);
  for (const part of packageParts) {
    const from = join(root, path, part);
    if (existsSync(from)) copy(from, join(folder, path, part), isWanted);
  }
  const link = join(folder, 'node_modules', name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(relative(dirname(link), join(folder, path)), link);
}

function copy(from: string, to: string, isWanted: (path: string) => boolean = () => true): void {
  cpSync(from, to, { recursive: true, dereference: true, filter: isWanted });
}
