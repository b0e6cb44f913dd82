import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExitError } from './errors/index.js';

const packageName = '@altstream/minimax-m3-tiny';

/** Where the demo model lies in the repository, seen from this package's `src` and `dist`. */
const neighbour = fileURLToPath(new URL('../../../packages/minimax-m3-tiny', import.meta.url));

/** Folder of the demo model's checkpoint. @throws ExitError (model) when it is not installed */
export function demoModelFolder(): string {
  const folder = demoPackage();
  if (folder !== undefined) return folder;
  const remedy = `install it with \`npm install ${packageName}\`, or name the folder of a checkpoint`;
  throw new ExitError('model', `the demo model (${packageName}) is not installed; ${remedy}`);
}

/** The demo model's evaluation suite. @throws ExitError (usage) when it is not installed */
export function demoSuite(): string {
  const folder = demoPackage();
  const path = folder === undefined ? undefined : join(folder, 'eval', 'demo.jsonl');
  if (path !== undefined && existsSync(path)) return path;
  const problem = `the suite "demo" comes with ${packageName}, which is not installed`;
  const remedy = `\`npm install ${packageName}\`, or pass --suite PATH`;
  throw new ExitError('usage', `${problem}; ${remedy}`);
}

function demoPackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    return existsSync(join(neighbour, 'package.json')) ? neighbour : undefined;
  }
}
