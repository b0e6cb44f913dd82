import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { type UnavailableReason, unavailableHints } from '../errors/unavailable-reason.js';

const require = createRequire(import.meta.url);

/** Name of the addon's file, wherever it lies. */
export const addonFile = 'cuda_runtime.node';

/** Where an addon may lie. */
export interface AddonCandidate {
  readonly what: string;
  /** Absolute path of the file; throws when there is none. */
  readonly path: () => string;
  /** Whether its version must be this package's. */
  readonly isStamped: boolean;
  /** Throws for a file that must not be opened: Node runs what is no addon as JavaScript. */
  readonly check?: () => void;
  /** Oldest glibc that it is known to need; throws as `path` does. */
  readonly glibc: () => string | undefined;
}

/**
 * Every place, in the order in which the loader tries them: `CUDA_RUNTIME_BINARY` alone when it is
 * set, else `CUDA_RUNTIME_BUILD_DIR`, the package's own build, the platform package.
 *
 * @param root this package's folder
 */
export function addonCandidates(root: string): readonly AddonCandidate[] {
  const given = process.env['CUDA_RUNTIME_BINARY'];
  if (given) {
    const file = built('CUDA_RUNTIME_BINARY', given, false);
    return [{ ...file, check: () => checkFile(given) }];
  }
  const folder = process.env['CUDA_RUNTIME_BUILD_DIR'];
  return [
    ...(folder ? [built('CUDA_RUNTIME_BUILD_DIR', addonIn(folder), true)] : []),
    built('local build', addonIn(join(root, 'build')), true),
    platformPackage(`@altstream/cuda-runtime-${process.platform}-${process.arch}`),
  ];
}

/** Where a build in `folder` puts the addon. */
export function addonIn(folder: string): string {
  return join(folder, 'Release', addonFile);
}

function built(what: string, path: string, isStamped: boolean): AddonCandidate {
  return { what, path: () => absolute(path), isStamped, glibc: () => undefined };
}

/** What to do about a reason; for `CUDA_RUNTIME_BINARY`, which is all that is tried, about it. */
export function remedyOf(reason: UnavailableReason): string {
  const isGiven = reason === 'NO_ADDON' && process.env['CUDA_RUNTIME_BINARY'];
  if (!isGiven) return unavailableHints[reason];
  return `Correct CUDA_RUNTIME_BINARY, which names the file of a built ${addonFile}, or unset it`;
}

function checkFile(path: string): void {
  if (!path.endsWith('.node')) {
    throw new Error(`${path} is no file of an addon, whose name ends in .node`);
  }
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new Error(`${path} is not there`);
  if (found.isDirectory()) throw new Error(`${path} is a folder, expected the file of an addon`);
}

function platformPackage(what: string): AddonCandidate {
  return {
    what,
    path: () => require.resolve(`${what}/${addonFile}`),
    isStamped: true,
    glibc: () => {
      const { config } = require(
        join(dirname(require.resolve(`${what}/package.json`)), 'package.json'),
      );
      return typeof config?.glibc === 'string' ? config.glibc : undefined;
    },
  };
}

/** A relative path would be another file in each working directory. */
function absolute(path: string): string {
  if (isAbsolute(path)) return path;
  throw new Error(`${path} is not an absolute path`);
}
