import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gpuPackages } from '../bundled-packages.js';

/** Folder names of the suites about a GPU: those a bundle was made for, or all. */
export function projects(root: string): readonly string[] {
  const file = join(root, 'bundle.json');
  if (!existsSync(file)) return gpuPackages(root);
  const { packages }: { packages: readonly string[] } = JSON.parse(readFileSync(file, 'utf8'));
  return packages;
}

/** The arguments that choose them in vitest. */
export function projectArguments(root: string): readonly string[] {
  return projects(root).map((name) => `--project=${name}`);
}
