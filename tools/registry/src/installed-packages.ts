import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { byVersion } from './by-version.js';
import type { PackageSource, VersionManifest } from './loopback-registry.js';

/**
 * The third-party packages that pnpm has installed in a workspace, as a package source: a test that
 * installs a package with its dependencies needs no network, and gets the versions of the lock
 * file.
 *
 * @param root the workspace's folder
 */
export function installedPackages(root: string): PackageSource {
  const folders = foldersByName(join(root, 'node_modules', '.pnpm'));
  return {
    packument(name, tarball) {
      const found = folders.get(name);
      if (!found) return undefined;
      const versions: Record<string, VersionManifest> = {};
      for (const [version, folder] of found) {
        const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        versions[version] = { ...manifest, dist: { tarball: tarball(version) } };
      }
      const latest = [...found.keys()].sort(byVersion).at(-1) ?? '';
      return { name, versions, 'dist-tags': { latest } };
    },
    tarball(name, version) {
      const folder = folders.get(name)?.get(version);
      if (!folder) return undefined;
      // Equal files are hard links in pnpm's store, which npm leaves out when it unpacks.
      const pack = ['-cz', '--hard-dereference', '--exclude', 'node_modules'];
      const what = ['-C', dirname(folder), basename(folder)];
      return execFileSync('tar', [...pack, ...what], { maxBuffer: 1 << 28 });
    },
  };
}

/** name → version → folder. A name lies in the store once for each set of its peers. */
function foldersByName(store: string): Map<string, Map<string, string>> {
  const result = new Map<string, Map<string, string>>();
  for (const entry of readdirSync(store)) {
    const modules = join(store, entry, 'node_modules');
    if (!existsSync(modules)) continue;
    const names = readdirSync(modules).flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`)
        : name,
    );
    for (const name of names) {
      const folder = join(modules, name);
      const file = join(folder, 'package.json');
      // Its dependencies lie beside a package as links.
      if (lstatSync(folder).isSymbolicLink() || !existsSync(file)) continue;
      const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
      const versions = result.get(name) ?? new Map<string, string>();
      result.set(name, versions.set(version, folder));
    }
  }
  return result;
}
