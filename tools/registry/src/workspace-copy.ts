import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** A workspace package: its folder, relative to the root, and its `package.json`. */
export interface WorkspacePackage {
  readonly folder: string;
  readonly manifest: WorkspaceManifest;
}

/** The fields of a `package.json` that are read here. */
export interface WorkspaceManifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files?: readonly string[];
  readonly publishConfig?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const rootFiles = [
  '.changeset',
  'LICENSE',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
];
const leftOut = new Set(['node_modules', '.turbo', 'build', 'coverage', 'results', '.npmrc']);

/** Every package of the workspace at `root`. */
export function workspacePackages(root: string): readonly WorkspacePackage[] {
  return ['packages', 'apps', 'tools'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => join(parent, name))
      .filter((folder) => existsSync(join(root, folder, 'package.json')))
      .map((folder) => ({
        folder,
        manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
      })),
  );
}

/**
 * Copies the workspace at `root` into `target`, with what was built and without what was installed,
 * so that `changeset version` and `changeset publish` cannot touch the original. Packages find each
 * other as pnpm would have linked them.
 *
 * @throws Error when a package names a registry of its own, which would win over the environment
 */
export function copyWorkspace(root: string, target: string): readonly WorkspacePackage[] {
  const packages = workspacePackages(root);
  for (const { manifest } of packages) refuseOwnRegistry(manifest);
  for (const name of rootFiles) cpSync(join(root, name), join(target, name), { recursive: true });
  for (const { folder } of packages) {
    cpSync(join(root, folder), join(target, folder), {
      recursive: true,
      // A folder of sources may be called `build`.
      filter: (path) => !leftOut.has(basename(path)) || path.includes(`${sep}native${sep}`),
    });
  }
  const folderOf = new Map(packages.map(({ folder, manifest }) => [manifest.name, folder]));
  for (const { folder, manifest } of packages) {
    const wanted = {
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
      ...manifest.devDependencies,
    };
    for (const name of Object.keys(wanted)) {
      const there = folderOf.get(name);
      if (there) link(join(target, there), join(target, folder, 'node_modules', name));
    }
  }
  // `changeset version` loads the changelog module by name, from the workspace.
  const changesets = join('node_modules', '@changesets', 'cli');
  link(join(root, changesets), join(target, changesets));
  return packages;
}

function refuseOwnRegistry({ name, publishConfig = {} }: WorkspaceManifest): void {
  const key = Object.keys(publishConfig).find((field) => /(^|:)registry$/.test(field));
  if (key) throw new Error(`publish test: ${name} has publishConfig["${key}"]; expected none`);
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
