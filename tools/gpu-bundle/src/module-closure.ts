import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** An installed npm package and where a bundle has it. */
export interface InstalledModule {
  readonly name: string;
  readonly version: string;
  /** Real path of its folder. */
  readonly from: string;
  /** Path below the bundle's `node_modules`; nested where two versions are needed. */
  readonly to: string;
}

/** An npm package and the folder of whoever imports it. */
export interface NeededModule {
  readonly name: string;
  readonly from: string;
}

/** Natives that only style sheets need (vite loads lightningcss when it meets one). */
const unused = new Set(['lightningcss', 'fsevents']);

/**
 * What is needed at run time, as installed here: dependencies, and optional ones that are present.
 * Flat, a second version of a package below the one that needs it.
 * @throws Error naming the package that is not installed, or that two workspace packages want
 * differently
 */
export function moduleClosure(needs: readonly NeededModule[]): readonly InstalledModule[] {
  const placed = new Map<string, InstalledModule>();
  const queue = needs.map((need) => ({ ...need, below: '', isOptional: false }));
  for (let need = queue.shift(); need !== undefined; need = queue.shift()) {
    const folder = locate(need.name, need.from);
    if (!folder && need.isOptional) continue;
    if (!folder) throw new Error(`${need.name} is not installed (needed by ${need.from})`);
    const manifest = readManifest(folder);
    const flat = placed.get(need.name);
    if (flat?.from === folder || flat?.version === manifest.version) continue;
    if (flat && need.below === '') {
      throw new Error(`${need.name} is needed in versions ${flat.version} and ${manifest.version}`);
    }
    const to = flat ? `${need.below}/node_modules/${need.name}` : need.name;
    if (placed.has(to)) continue;
    placed.set(to, { name: need.name, version: manifest.version, from: folder, to });
    const { dependencies = {}, optionalDependencies = {} } = manifest;
    for (const name of Object.keys({ ...optionalDependencies, ...dependencies })) {
      const isOptional = name in optionalDependencies;
      if (!unused.has(name)) queue.push({ name, from: folder, below: to, isOptional });
    }
  }
  return [...placed.values()];
}

function locate(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return realpathSync(candidate);
    if (folder === dirname(folder)) return undefined;
  }
}

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
