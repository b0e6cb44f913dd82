// `pnpm gpu-bundle --out DIR [--packages a,b] [--quick]`: fills DIR with all that a GPU host
// without Node or network needs to run the tests and benches of this workspace as it is built now.
// `DIR/run help` there.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleOptions } from './bundle-options.js';
import { type BundledPackage, gpuPackages, withDependencies } from './bundled-packages.js';
import { compressedNode, compressFolder, type Preset } from './compressed.js';
import { moduleClosure } from './module-closure.js';
import { stageModules, stagePackages } from './stage.js';

const mostBytes = 40e6;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const cache = join(root, 'build', 'gpu-bundle');

try {
  pack();
} catch (error) {
  process.stderr.write(`gpu-bundle: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

function pack(): void {
  const { out, packages: given, isQuick } = bundleOptions(process.argv.slice(2));
  const preset = isQuick ? 'quick' : 'small';
  const suites = given ?? gpuPackages(root);
  const packages = withDependencies(root, suites);
  mkdirSync(out, { recursive: true });
  const app = join(out, 'app.tar.xz');
  inStaging(app, preset, (folder) => {
    stagePackages(root, packages, folder);
    writeFileSync(join(folder, 'bundle.json'), `${JSON.stringify({ packages: suites })}\n`);
  });
  copyFileSync(compressedModules(packages, preset), join(out, 'modules.tar.xz'));
  copyFileSync(compressedNode(cache, preset), join(out, 'node.xz'));
  copyFileSync(join(root, 'tools/gpu-bundle/host/run'), join(out, 'run'));
  copyFileSync(join(root, 'tools/gpu-bundle/README.md'), join(out, 'README.md'));
  writeFileSync(join(out, 'stamp'), `${hash(readFileSync(app))}-${commit()}\n`);
  rmSync(join(out, 'unpacked'), { recursive: true, force: true });
  table(
    out,
    packages.map(({ folder }) => folder),
  );
}

/** Kept, since packing them takes half a minute and they seldom change. */
function compressedModules(packages: readonly BundledPackage[], preset: Preset): string {
  const needs = packages.flatMap(({ folder, dependencies }) =>
    dependencies.map((name) => ({ name, from: join(root, folder) })),
  );
  const modules = moduleClosure([{ name: 'vitest', from: root }, ...needs]);
  const list = modules.map(({ to, version }) => `${to} ${version}`).sort();
  const file = join(cache, `modules-${hash(list.join('\n'))}-${preset}.tar.xz`);
  if (!existsSync(file)) inStaging(file, preset, (folder) => stageModules(modules, folder));
  return file;
}

/** Fills a folder `app`, packs it into `file` and removes it. */
function inStaging(file: string, preset: Preset, fill: (folder: string) => void): void {
  const staging = join(cache, `stage-${process.pid}`);
  mkdirSync(join(staging, 'app'), { recursive: true });
  try {
    fill(join(staging, 'app'));
    compressFolder(staging, 'app', file, preset);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function table(out: string, packages: readonly string[]): void {
  const files = ['run', 'node.xz', 'modules.tar.xz', 'app.tar.xz', 'stamp', 'README.md'];
  const sizes = files.map((file) => statSync(join(out, file)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const lines = files.map((file, at) => `${file.padEnd(14)} ${megabytes(sizes[at] ?? 0)}`);
  const text = [
    `packages: ${packages.join(', ')}`,
    ...lines,
    `${'total'.padEnd(14)} ${megabytes(total)}`,
  ];
  process.stdout.write(`${text.join('\n')}\n${out}/run help\n`);
  if (total >= mostBytes) {
    throw new Error(
      `the bundle has ${megabytes(total)}, allowed are less than ${megabytes(mostBytes)}`,
    );
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(2)} MB`.padStart(9);
}

function hash(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** With a plus if the sources differ from it. */
function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const isClean = git('status', '--porcelain', '-uno', '--', 'packages', 'tools') === '';
    return `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
