import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { wrongKind } from '../arguments/faults.js';
import { checkNames, checkObject } from '../arguments/options.js';
import { ArgumentError } from '../errors/argument-error.js';
import { KernelImageError } from '../errors/kernel-image-error.js';
import type { ModuleSource } from './module-source.js';

const api = 'runtime.loadModule';

/** @throws ArgumentError unless it names a manifest, or a package and a file of it */
export function checkSource(source: ModuleSource): void {
  checkObject(api, 'source', source);
  if ('manifest' in source) checkNames(api, 'source', source, { manifest: true });
  else checkNames(api, 'source', source, { package: true, from: true });
  const wanted: Readonly<Record<string, unknown>> =
    'manifest' in source
      ? { manifest: source.manifest }
      : { package: source.package, from: source.from };
  for (const [name, value] of Object.entries(wanted)) {
    if (typeof value !== 'string') throw wrongKind(api, `source.${name}`, value, 'text');
    if (value.includes('\0')) throw wrongKind(api, `source.${name}`, value, 'text without NUL');
  }
  if ('from' in source) pathOf(source.from);
}

/** The path of a file URL. @throws ArgumentError for any other text */
function pathOf(from: string): string {
  try {
    return fileURLToPath(from);
  } catch (cause) {
    throw new ArgumentError({
      api,
      detail: `\`source.from\` is ${from}, expected the URL of a file of this machine`,
      hint: 'Pass import.meta.url of a file of the kernel package',
      cause,
    });
  }
}

/**
 * The manifest of a kernel package: the local build first, then the platform package.
 * @throws KernelImageError listing every place that was tried
 */
export function findManifest(source: ModuleSource): string {
  if ('manifest' in source) return existing([source.manifest], source.manifest);
  const root = packageRoot(source.package, source.from);
  const platform = `${source.package}-${process.platform}-${process.arch}`;
  const installed = resolveFrom(root, `${platform}/package.json`);
  const candidates = [join(root, 'build', 'Release', 'manifest.json')];
  if (installed) candidates.push(join(dirname(installed), 'manifest.json'));
  return existing(candidates, source.package);
}

function existing(candidates: readonly string[], what: string): string {
  const found = candidates.find(isFile);
  if (found) return found;
  throw new KernelImageError({
    code: 'CRT_NO_KERNEL_IMAGE',
    api,
    detail: `no kernels of ${what}; tried ${candidates.join(', ')}`,
    hint: 'Install its platform package, or run `pnpm run build:native` in the package',
  });
}

function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    // Missing, or not to be seen: the caller lists the places that it tried.
    return false;
  }
}

function packageRoot(name: string, from: string): string {
  let folder = dirname(pathOf(from));
  for (;;) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && nameIn(file) === name) return folder;
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  throw new ArgumentError({
    api,
    detail: `\`source.from\` ${from} does not lie in a package named ${name}`,
    hint: 'Pass import.meta.url of a file of the kernel package',
  });
}

function nameIn(file: string): unknown {
  const parsed = contentOf(file);
  return typeof parsed === 'object' && parsed !== null && 'name' in parsed
    ? parsed.name
    : undefined;
}

function contentOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new ArgumentError({
      api,
      detail: `\`source.from\` lies under ${file}, which is not readable JSON`,
      hint: 'Correct that file, or pass the `manifest` itself',
      cause,
    });
  }
}

function resolveFrom(root: string, request: string): string | undefined {
  try {
    return createRequire(join(root, 'package.json')).resolve(request);
  } catch {
    // Not installed: the caller lists the places that it did find.
    return undefined;
  }
}
