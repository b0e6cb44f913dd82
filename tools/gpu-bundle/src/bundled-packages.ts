import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A workspace package that goes into a bundle. */
export interface BundledPackage {
  /** npm name. */
  readonly name: string;
  /** Below the workspace, e.g. `packages/cuda-runtime`. */
  readonly folder: string;
  /** npm dependencies from outside the workspace. */
  readonly dependencies: readonly string[];
}

/**
 * Tests that build native code or look at pages: a bundle has no headers of Node, CMake project or
 * docs.
 */
export const buildingTests: readonly string[] = [
  'packages/cuda-runtime/test/native-core.test.ts',
  'packages/cuda-runtime/test/misuse/broken-nvcc.test.ts',
  'packages/cuda-runtime/test/misuse/listed-errors.test.ts',
  'packages/cuda-runtime/test/cli/commands.test.ts',
  'packages/cuda-runtime/test/cli/manifest.test.ts',
  'packages/cuda-runtime/test/cli/packed-build.test.ts',
  'packages/cuda-runtime/test/cli/package-files.test.ts',
];

/** Only needed to build an addon, or a package. */
const buildDependencies = new Set([
  'node-addon-api',
  'node-api-headers',
  'cmake-js',
  'tsup',
  'typescript',
]);

/**
 * Without CUDA code of their own: the kernels and the graphs of a whole model meet in their suites.
 */
const wholeModel: readonly string[] = ['minimax-m3-model', 'engine'];

/**
 * Folder names below `packages/` whose suites are about a GPU: those with a `native/cuda` folder,
 * and the whole model. `pnpm test:gpu` and a bundle take these unless told otherwise.
 */
export function gpuPackages(root: string): readonly string[] {
  const has = (name: string) => existsSync(join(root, 'packages', name, 'native', 'cuda'));
  return [...readdirSync(join(root, 'packages')).filter(has).sort(), ...wholeModel];
}

/**
 * The packages with the workspace packages that they, their tests and their benches need, each
 * once.
 * @throws Error if a package is not there or has not been built
 */
export function withDependencies(
  root: string,
  names: readonly string[],
): readonly BundledPackage[] {
  const found = new Map<string, BundledPackage>();
  const suites = names.map((name) => suiteFolder(root, name));
  const queue = [...suites, 'tools/bench', 'tools/gpu-bundle'];
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    if (found.has(folder) || isData(root, folder)) continue;
    const { dependencies, devDependencies, ...manifest } = readManifest(root, folder);
    const ofTests = suites.includes(folder) ? devDependencies : {};
    const all = Object.entries({ ...ofTests, ...dependencies });
    const inside = all.filter(([, version]) => version.startsWith('workspace:'));
    queue.push(...inside.map(([name]) => folderOf(root, name)));
    const outside = all.filter(([name, version]) => {
      const isBuilding = buildDependencies.has(name) || name.startsWith('@types/');
      return !version.startsWith('workspace:') && !isBuilding;
    });
    found.set(folder, { ...manifest, folder, dependencies: outside.map(([name]) => name) });
  }
  return [...found.values()];
}

/** Weights would double the bundle; tests of them are left out there, or told where they are. */
function isData(root: string, folder: string): boolean {
  const isThere = existsSync(join(root, folder, 'package.json'));
  return isThere && !existsSync(join(root, folder, 'src'));
}

/** Where the package or app of that folder name is, e.g. `packages/engine` or `apps/server`. */
export function suiteFolder(root: string, name: string): string {
  const isApp = existsSync(join(root, 'apps', name, 'package.json'));
  return `${isApp ? 'apps' : 'packages'}/${name}`;
}

function readManifest(root: string, folder: string) {
  const file = join(root, folder, 'package.json');
  if (!existsSync(file)) throw new Error(`${folder} is no package: there is no ${file}`);
  const {
    name,
    dependencies = {},
    devDependencies = {},
  }: Record<'dependencies' | 'devDependencies', Record<string, string> | undefined> & {
    name: string;
  } = JSON.parse(readFileSync(file, 'utf8'));
  return { name, dependencies, devDependencies };
}

function folderOf(root: string, name: string): string {
  const short = name.slice(name.indexOf('/') + 1);
  const folder = ['packages', 'tools', 'apps'].map((top) => `${top}/${short}`);
  const found = folder.find((path) => existsSync(join(root, path, 'package.json')));
  if (!found) throw new Error(`${name} is no package of this workspace`);
  return found;
}
