import type { Finding, Tree } from './finding.js';

/** Weights and what goes with them; in bytes, since they stay in git's history for good. */
const mostDataBytes = 24e6;
/** Of every other file: sources, fixtures and results are far below. */
const mostFileBytes = 1e6;

/**
 * A package that ships files of the tree and no code has each of them, and is small; no other large
 * file gets into git. What is built, such as platform packages, is not looked at.
 */
export function dataPackages(tree: Tree): readonly Finding[] {
  const folders = tree.files.flatMap((path) => dataFolder(tree, path));
  const isData = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`));
  return [
    ...folders.flatMap((folder) => missing(tree, folder)),
    ...folders.flatMap((folder) => tooMuch(tree, folder)),
    ...tree.files
      .filter((path) => !isData(path) && tree.bytes(path) > mostFileBytes)
      .map((path) => finding(path, `${tree.bytes(path)} bytes, at most ${mostFileBytes}`)),
  ];
}

function dataFolder(tree: Tree, path: string): string[] {
  const folder = /^(packages\/[^/]+)\/package\.json$/.exec(path)?.[1];
  if (folder === undefined || folder.endsWith('-linux-x64')) return [];
  return shipsDataOnly(tree, folder) ? [folder] : [];
}

/** Whether a package has files, and neither sources nor anything that others could import. */
export function shipsDataOnly(tree: Tree, folder: string): boolean {
  const manifest = JSON.parse(tree.text(`${folder}/package.json`)) as object;
  const hasSources = tree.files.some((path) => path.startsWith(`${folder}/src/`));
  return 'files' in manifest && !('exports' in manifest) && !hasSources;
}

function missing(tree: Tree, folder: string): Finding[] {
  const manifest = JSON.parse(tree.text(`${folder}/package.json`)) as { files: string[] };
  const tops = tree.files
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => path.slice(folder.length + 1).split('/')[0] ?? '');
  return manifest.files
    .filter((pattern) => !tops.some((top) => matches(top, pattern)))
    .map((pattern) =>
      finding(folder, `${pattern} is missing: "files" promises it; restore it or make it anew`),
    );
}

function matches(name: string, pattern: string): boolean {
  return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

function tooMuch(tree: Tree, folder: string): Finding[] {
  const bytes = tree.files
    .filter((path) => path.startsWith(`${folder}/`))
    .reduce((sum, path) => sum + tree.bytes(path), 0);
  if (bytes <= mostDataBytes) return [];
  return [finding(folder, `${bytes} bytes in git, at most ${mostDataBytes}`)];
}

function finding(at: string, message: string): Finding {
  return { check: 'data', at, message };
}
