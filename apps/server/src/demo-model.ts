import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExitError } from './errors/index.js';

const packageName = '@altstream/minimax-m3-tiny';

/** Where the demo model lies in the repository, seen from this package's `src` and `dist`. */
const neighbour = fileURLToPath(new URL('../../../packages/minimax-m3-tiny', import.meta.url));

/**
 * Folder of the demo model's checkpoint: the package itself.
 *
 * @param folder of the package; null = not installed
 * @throws ExitError (model) when it is not installed
 */
export function demoModelFolder(folder: string | null = demoPackage()): string {
  if (folder !== null) return folder;
  const remedy = `install it with \`npm install ${packageName}\`, or name the folder of a checkpoint`;
  throw new ExitError('model', `the demo model (${packageName}) is not installed; ${remedy}`);
}

/**
 * The demo model's evaluation suite.
 *
 * @param folder of the package; null = not installed
 * @throws ExitError (usage) when it is not installed, or has none
 */
export function demoSuite(folder: string | null = demoPackage()): string {
  const remedy = `\`npm install ${packageName}\`, or pass --suite PATH`;
  if (folder === null) {
    const problem = `the suite "demo" comes with ${packageName}, which is not installed`;
    throw new ExitError('usage', `${problem}; ${remedy}`);
  }
  const path = join(folder, 'eval', 'demo.jsonl');
  if (existsSync(path)) return path;
  throw new ExitError('usage', `the suite "demo" is not in ${folder}; ${remedy}`);
}

function demoPackage(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    return existsSync(join(neighbour, 'package.json')) ? neighbour : null;
  }
}
