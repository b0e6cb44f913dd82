// Stages a platform package: copies what `build:native` of its main package made, without symbols
// that nobody needs at run time. Run from the platform package's folder, as its `build` task.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = process.cwd();
const main = basename(folder).replace(/-linux-x64$/, '');
const source = join(folder, '..', main, 'build', 'Release');
const { files } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

const isWanted = (name) =>
  files.some((pattern) =>
    pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : pattern === name,
  );

if (!existsSync(source)) throw new Error(`${main}: build:native has not run, ${source} is missing`);
const names = readdirSync(source).filter(isWanted);
if (names.length === 0) throw new Error(`${main}: nothing to stage in ${source}`);
for (const name of names) {
  const target = join(folder, name);
  copyFileSync(join(source, name), target);
  if (/\.(node|so)$/.test(name)) execFileSync('strip', ['--strip-unneeded', target]);
}
