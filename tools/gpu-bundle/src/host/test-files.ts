import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { suiteFolder } from '../bundled-packages.js';

const stress = '.stress.test.ts';

/** Those that run for minutes or fill a GPU's memory. */
export function isStressTest(file: string): boolean {
  return file.endsWith(stress);
}

/** What leaves them out, for vitest. */
export const withoutStressTests = `--exclude=**/*${stress}`;

/** Test files of each project, in `src` and `test`; paths below `root`, in order. */
export function testFiles(root: string, projects: readonly string[]): readonly string[] {
  const folders = projects.flatMap((project) =>
    ['src', 'test'].map((name) => join(suiteFolder(root, project), name)),
  );
  return folders.flatMap((folder) => {
    if (!existsSync(join(root, folder))) return [];
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .sort();
  });
}

/**
 * Those whose path holds one of the words of a command line: all for none.
 * @throws Error for a word that no path holds
 */
export function chosenFiles(
  root: string,
  files: readonly string[],
  filters: readonly string[],
): readonly string[] {
  if (filters.length === 0) return files;
  const chosen = new Set(filters.flatMap((filter) => filesOf(root, files, filter)));
  return files.filter((file) => chosen.has(file));
}

/**
 * What chooses the same in vitest, which compares a word with the path below the project's folder
 * alone, so that one with the project's name would choose nothing.
 */
export function vitestFilters(
  root: string,
  files: readonly string[],
  filters: readonly string[],
): readonly string[] {
  return filters.flatMap((filter) => {
    const [line = ''] = lineNumber.exec(filter) ?? [];
    return filesOf(root, files, filter).map((file) => `${file}${line}`);
  });
}

const lineNumber = /:\d+$/;

function filesOf(root: string, files: readonly string[], filter: string): readonly string[] {
  const word = filter.replace(/^\.\//, '').replace(lineNumber, '').toLowerCase();
  const found = files.filter((file) => {
    const path = isAbsolute(word) ? join(root, file) : file;
    return path.toLowerCase().includes(word);
  });
  if (found.length > 0) return found;
  throw new Error(
    `no test file has \`${filter}\` in its path, such as ${files[0] ?? 'packages/…/x.test.ts'}; ` +
      'a filter is a part of such a path, e.g. `fork-join` or `cuda-runtime/test/graphs`',
  );
}
