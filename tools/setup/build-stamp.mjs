// Whether everything that `prepare` makes is there already, made from what lies in the folder now:
// then a start need not ask pnpm, turbo and cmake again, which takes longer than to load a small
// model.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What decides on compilers and targets; another value may make other binaries. */
const deciding = /^(CC|CXX|CUDACXX|CUDA_PATH|CUDA_HOME|PATH|CRT_.*)$/;

/** @param {string} root folder of the repository */
export function isBuilt(root) {
  const stamp = makeStamp(root);
  const file = stampFile(root);
  return stamp !== undefined && existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

/** Remembers that everything was built just now. @param {string} root */
export function rememberBuild(root) {
  const stamp = makeStamp(root);
  if (stamp === undefined) return;
  mkdirSync(dirname(stampFile(root)), { recursive: true });
  writeFileSync(stampFile(root), stamp);
}

function stampFile(root) {
  return join(root, '.tools', 'build-stamp.json');
}

/** Sources by content, as git sees them, and outputs by time; undefined without git. */
function makeStamp(root) {
  const head = git(root, 'rev-parse', 'HEAD');
  const changed = git(root, 'diff', 'HEAD', '--binary');
  const added = git(root, 'ls-files', '--others', '--exclude-standard', '-z');
  if (head === undefined || changed === undefined || added === undefined) return undefined;
  const sources = createHash('sha256').update(head).update(changed);
  for (const path of added.split('\0').filter((name) => name !== '')) {
    sources.update(`${path} ${timeOf(join(root, path))}`);
  }
  const environment = Object.entries(process.env)
    .filter(([name]) => deciding.test(name))
    .sort();
  return JSON.stringify({
    node: process.version,
    environment,
    sources: sources.digest('hex'),
    installed: timeOf(join(root, 'node_modules/.modules.yaml')),
    outputs: outputsOf(root),
  });
}

/** A build by other means, or of another branch, leaves other times. */
function outputsOf(root) {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    namesIn(join(root, parent)).flatMap((name) => [
      join(parent, name, 'dist'),
      join(parent, name, 'build/Release'),
    ]),
  );
  return folders.flatMap((folder) =>
    namesIn(join(root, folder)).map((name) => [
      join(folder, name),
      timeOf(join(root, folder, name)),
    ]),
  );
}

function namesIn(folder) {
  return existsSync(folder) ? readdirSync(folder).sort() : [];
}

function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function git(root, ...args) {
  const result = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
  return result.status === 0 ? result.stdout : undefined;
}
