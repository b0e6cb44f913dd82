import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { CommandError } from './command-line.js';
import type { Variables } from './find-program.js';

/**
 * The folder to build in, which exists and can be written afterwards: `CUDA_RUNTIME_BUILD_DIR` when
 * it is set, else `build` in the package's folder.
 *
 * @param root this package's folder
 * @throws CommandError when it cannot be written, is not absolute, or is no folder for CMake
 */
export function buildFolder(root: string, variables: Variables): string {
  const named = variables['CUDA_RUNTIME_BUILD_DIR'];
  if (named && !isAbsolute(named)) {
    throw new CommandError(
      `CUDA_RUNTIME_BUILD_DIR is ${named}, expected an absolute path, since programs in other folders look there too`,
    );
  }
  const folder = named || join(root, 'build');
  checkCharacters(named ? 'CUDA_RUNTIME_BUILD_DIR' : 'the folder of the package', named || root);
  const refusal = writeRefusal(folder);
  if (refusal === undefined) return folder;
  const hint = named
    ? 'name another folder in CUDA_RUNTIME_BUILD_DIR'
    : 'name a folder to build in, and to load from, in CUDA_RUNTIME_BUILD_DIR';
  const what = named ? `CUDA_RUNTIME_BUILD_DIR is ${folder}, which` : folder;
  throw new CommandError(`${what} cannot be written (${refusal}); ${hint}`);
}

// In CMake's lists and scripts, and in those of make, these end a path or begin something else.
const separators = /[;"\\#\r\n]/;

function checkCharacters(what: string, folder: string): void {
  const [found] = separators.exec(folder) ?? [];
  if (found === undefined) return;
  const is = `${what} is ${JSON.stringify(folder)}, with ${JSON.stringify(found)} in it`;
  throw new CommandError(
    `${is}, expected a path without ; " \\ # and line ends, in which CMake cannot build`,
  );
}

/** Permission bits do not tell of read-only file systems; writing does. */
function writeRefusal(folder: string): string | undefined {
  try {
    const missing = outermostMissing(folder);
    if (missing !== undefined) makeFolder(missing);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `.write-test-${process.pid}`);
    writeFileSync(file, '');
    rmSync(file);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** The first folder on the way down to `folder` that is not there. */
function outermostMissing(folder: string): string | undefined {
  if (statSync(folder, { throwIfNoEntry: false })) return undefined;
  const above = dirname(folder);
  return above === folder ? folder : (outermostMissing(above) ?? folder);
}

/**
 * By itself and first: `recursive` never ends where a folder is there and takes none (`ENOENT`, as
 * below `/proc`). One that was just made takes more.
 */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })) throw error;
  }
}
