import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** What a tool is looked for in. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Absolute path of a program: as it is when absolute, else the first of its name on `PATH`. */
export function findProgram(name: string, variables: Variables): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  const folders = (variables['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/**
 * What a program prints, both outputs together; `undefined` when it cannot run or fails.
 *
 * @param input what it reads from its standard input
 */
export function outputOf(
  program: string,
  args: readonly string[],
  variables: Variables,
  input = '',
): string | undefined {
  const result = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...variables, LC_ALL: 'C' },
    input,
    timeout: 60_000,
  });
  return result.status === 0 ? `${result.stdout}${result.stderr}` : undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Absent, or not for this user: either way another folder may have it.
    return false;
  }
}
