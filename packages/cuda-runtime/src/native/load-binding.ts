import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackendUnavailableError } from '../errors/backend-unavailable-error.js';
import type { NativeBinding } from './binding.js';
import { unloadableReason } from './unloadable-reason.js';

const nodeApiVersion = 8;
const file = 'cuda_runtime.node';
const require = createRequire(import.meta.url);

/** Where an addon may lie. */
interface Candidate {
  readonly what: string;
  /** Absolute path of the file; throws when there is none. */
  readonly path: () => string;
  /** Whether its version must be this package's. */
  readonly isStamped: boolean;
}

/**
 * Loads the addon: `CUDA_RUNTIME_BINARY`, else the local build, else the platform package.
 *
 * @throws BackendUnavailableError NODE_TOO_OLD before any file is loaded, since a binary for a newer
 *   Node-API can end the process; NO_ADDON with the reason of each candidate
 */
export function loadBinding(): NativeBinding {
  checkNode();
  const root = packageRoot();
  const version = versionOf(join(root, 'package.json'));
  const reasons: string[] = [];
  for (const candidate of candidates(root)) {
    try {
      return load(candidate, version);
    } catch (error) {
      reasons.push(`${candidate.what}: ${firstLine(error)}`);
    }
  }
  throw new BackendUnavailableError({
    api: 'load',
    reason: unloadableReason(reasons),
    detail: `the addon could not be loaded; ${reasons.join('; ')}`,
  });
}

function candidates(root: string): readonly Candidate[] {
  const given = process.env['CUDA_RUNTIME_BINARY'];
  if (given) return [{ what: 'CUDA_RUNTIME_BINARY', path: () => given, isStamped: false }];
  const platform = `@altstream/cuda-runtime-${process.platform}-${process.arch}`;
  return [
    { what: 'local build', path: () => join(root, 'build', 'Release', file), isStamped: true },
    { what: platform, path: () => require.resolve(`${platform}/${file}`), isStamped: true },
  ];
}

function load({ path, isStamped }: Candidate, version: string): NativeBinding {
  const binding: NativeBinding = require(path());
  const built: unknown = JSON.parse(binding.buildInfo());
  const stamp = typeof built === 'object' && built && 'version' in built ? built.version : '';
  if (isStamped && stamp !== version) {
    throw new Error(`VERSION_SKEW: it is version ${stamp}, the package is ${version}; build again`);
  }
  return binding;
}

function checkNode(): void {
  const napi = Number(process.versions['napi']);
  if (napi >= nodeApiVersion) return;
  throw new BackendUnavailableError({
    api: 'load',
    reason: 'NODE_TOO_OLD',
    detail: `Node ${process.versions.node} offers Node-API ${napi}, the addon needs ${nodeApiVersion}`,
    hint: 'Use Node 20.19 or newer',
  });
}

/** The package's folder: the nearest one above this file, which runs from `src` or from `dist`. */
function packageRoot(): string {
  let folder = fileURLToPath(new URL('.', import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('no package.json above the loader');
    folder = parent;
  }
  return folder;
}

function versionOf(packageFile: string): string {
  const content: unknown = JSON.parse(readFileSync(packageFile, 'utf8'));
  const hasVersion = typeof content === 'object' && content !== null && 'version' in content;
  return hasVersion ? String(content.version) : '';
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? text;
}
