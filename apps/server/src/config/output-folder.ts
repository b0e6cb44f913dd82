import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ExitError } from '../errors/index.js';

/**
 * Makes the folder that a flag names, with those above it, if it is not there. Better before the
 * work than after it.
 *
 * @param named the flag and its value, such as `--result-dir DIR`
 * @throws ExitError (usage) if it cannot be made, or nothing can be written in it
 */
export function makeOutputFolder(folder: string, named: string): void {
  orWriteError(named, () => {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  });
}

/** The same for the folder of a file, which may be there. */
export function makeFolderOf(file: string, named: string): void {
  makeOutputFolder(dirname(file), named);
  orWriteError(named, () => {
    const facts = statSync(file, { throwIfNoEntry: false });
    if (facts?.isDirectory()) throw new Error('it is a folder, expected a file');
    if (facts) accessSync(file, constants.W_OK);
  });
}

/** Writes, or looks whether that is possible. @throws ExitError (usage) that names it */
export function orWriteError(named: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    const problem = `${named} cannot be written: ${(cause as Error).message}`;
    throw new ExitError('usage', problem, { cause });
  }
}
