import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './finding.js';

/** Reads the working tree as git sees it: tracked files and new ones that are not ignored. */
export function readTree(root: string): Tree {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const files = [...new Set(listed.split('\0'))]
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .sort();
  const reader = {
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    bytes: (path: string) => statSync(join(root, path)).size,
  };
  return treeOf(root, files, reader);
}

/** A tree from a list of paths and a reader; texts are read once. */
export function treeOf(
  root: string,
  files: readonly string[],
  { read, bytes }: { read: (path: string) => string; bytes: (path: string) => number },
): Tree {
  const texts = new Map<string, string>();
  return {
    root,
    files,
    bytes,
    text(path) {
      let text = texts.get(path);
      if (text === undefined) {
        text = read(path);
        texts.set(path, text);
      }
      return text;
    },
  };
}

/** A tree held in memory, for the checks' own tests. */
export function treeFromTexts(texts: Readonly<Record<string, string>>): Tree {
  const read = (path: string): string => texts[path] ?? '';
  const bytes = (path: string): number => read(path).length;
  return treeOf('', Object.keys(texts).sort(), { read, bytes });
}
