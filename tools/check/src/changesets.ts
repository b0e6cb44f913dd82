import type { Finding, Tree } from './finding.js';

/** Every publishable package that has not been released yet is named by a changeset. */
export function changesets(tree: Tree): readonly Finding[] {
  const notes = tree.files
    .filter((path) => /^\.changeset\/.*\.md$/.test(path))
    .map((path) => tree.text(path))
    .join('\n');
  return tree.files
    .filter((path) => /^(packages|apps)\/[^/]+\/package\.json$/.test(path))
    .flatMap((path) => {
      const manifest = JSON.parse(tree.text(path)) as { name: string; version: string };
      const isPlatformPackage = manifest.name.endsWith('-linux-x64');
      if (isPlatformPackage || manifest.version !== '0.0.0') return [];
      if (notes.includes(`"${manifest.name}"`) || notes.includes(`'${manifest.name}'`)) return [];
      return [{ check: 'changesets', at: path, message: `no changeset names ${manifest.name}` }];
    });
}
