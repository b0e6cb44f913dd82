import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { CommandError } from './command-line.js';
import type { Variables } from './find-program.js';

/**
 * The folder to build in, which exists and can be written afterwards: `CUDA_RUNTIME_BUILD_DIR` when
 * it is set, else `build` in the package's folder.
 *
 * @param root this package's folder
 * @throws CommandError when it cannot be written, or is not absolute
 */
export function buildFolder(root: string, variables: Variables): string {
  const named = variables['CUDA_RUNTIME_BUILD_DIR'];
  if (named && !isAbsolute(named)) {
    throw new CommandError(
      `CUDA_RUNTIME_BUILD_DIR is ${named}, expected an absolute path, since programs in other folders look there too`,
    );
  }
  const folder = named || join(root, 'build');
  const refusal = writeRefusal(folder);
  if (refusal === undefined) return folder;
  const hint = named
    ? 'name another folder in CUDA_RUNTIME_BUILD_DIR'
    : 'name a folder to build in, and to load from, in CUDA_RUNTIME_BUILD_DIR';
  throw new CommandError(`${folder} cannot be written (${refusal}); ${hint}`);
}

/** Permission bits do not tell of read-only file systems; writing does. */
function writeRefusal(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `.write-test-${process.pid}`);
    writeFileSync(file, '');
    rmSync(file);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
