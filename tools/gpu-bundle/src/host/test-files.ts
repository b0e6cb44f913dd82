import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suiteFolder } from '../bundled-packages.js';

const stress = '.stress.test.ts';

/** Those that run for minutes or fill a GPU's memory. */
export function isStressTest(file: string): boolean {
  return file.endsWith(stress);
}

/** What leaves them out, for vitest. */
export const withoutStressTests = `--exclude=**/*${stress}`;

/** Test files in the folder `test` of each project that has one; paths below `root`, in order. */
export function testFiles(root: string, projects: readonly string[]): readonly string[] {
  return projects.flatMap((project) => {
    const folder = join(suiteFolder(root, project), 'test');
    if (!existsSync(join(root, folder))) return [];
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .sort();
  });
}

/** Those that vitest takes for the words of a command line: all for none. */
export function chosenFiles(
  root: string,
  files: readonly string[],
  filters: readonly string[],
): readonly string[] {
  if (filters.length === 0) return files;
  const words = filters.map((filter) => filter.replace(/^\.\//, '').replace(/:\d+$/, ''));
  return files.filter((file) => words.some((word) => join(root, file).includes(word)));
}
