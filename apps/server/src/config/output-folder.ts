import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
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
    makeFolders(resolve(folder));
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

/**
 * Level by level from the nearest one that is there: what Node has for that never ends where a
 * folder is there and yet takes none (`ENOENT`, as below `/proc`).
 */
function makeFolders(folder: string): void {
  const facts = statSync(folder, { throwIfNoEntry: false });
  if (facts?.isDirectory()) return;
  const above = dirname(folder);
  if (facts === undefined && above !== folder) makeFolders(above);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
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
