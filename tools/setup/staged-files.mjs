// What a platform package has of a native build: the files that its manifest lists, and nothing
// that an older build left behind.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Copies into a platform package what `build:native` of its main package made, and removes what
 * would be published beside it.
 *
 * @param {string} folder of the platform package
 * @param {(file: string) => void} strip takes the symbols out that nobody needs at run time
 */
export function stageFiles(folder, strip = stripSymbols) {
  const main = basename(folder).replace(/-linux-x64$/, '');
  const source = join(folder, '..', main, 'build', 'Release');
  if (!existsSync(source)) {
    throw new Error(`${main}: build:native has not run, ${source} is missing`);
  }
  const { files } = readJson(join(folder, 'package.json'));
  const names = files.includes('manifest.json') ? listedFiles(source, main) : files;
  const missing = names.filter((name) => !existsSync(join(source, name)));
  if (missing.length > 0) {
    throw new Error(`${main}: ${missing.join(', ')} missing in ${source}; run build:native again`);
  }
  const isPublished = (name) =>
    files.some((pattern) =>
      pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : pattern === name,
    );
  for (const name of readdirSync(folder)) {
    if (isPublished(name) && !names.includes(name)) rmSync(join(folder, name));
  }
  for (const name of names) {
    const target = join(folder, name);
    copyFileSync(join(source, name), target);
    if (/\.(node|so)$/.test(name)) strip(target);
  }
}

function listedFiles(source, main) {
  const file = join(source, 'manifest.json');
  if (!existsSync(file)) throw new Error(`${main}: nothing to stage, ${file} is missing`);
  const { cpu, fatbins } = readJson(file);
  return ['manifest.json', cpu, ...fatbins];
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function stripSymbols(file) {
  execFileSync('strip', ['--strip-unneeded', file]);
}
