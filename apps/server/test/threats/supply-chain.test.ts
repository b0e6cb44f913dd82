import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Manifest {
  readonly name: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const manifests = ['packages', 'apps', 'tools'].flatMap((group) =>
  readdirSync(new URL(`${group}/`, root)).flatMap((name): Manifest[] => {
    try {
      return [JSON.parse(read(`${group}/${name}/package.json`)) as Manifest];
    } catch {
      return [];
    }
  }),
);

it('every dependency is one version, and every package of the lock file has its hash (S24)', () => {
  expect(manifests.length).toBeGreaterThan(8);
  for (const { name, dependencies, devDependencies, optionalDependencies } of manifests) {
    const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies };
    for (const [dependency, version] of Object.entries(wanted)) {
      expect([name, dependency, version]).toEqual([
        ...[name, dependency],
        expect.stringMatching(/^(workspace:\*|\d+\.\d+\.\d+)$/),
      ]);
    }
  }
  const lock = read('pnpm-lock.yaml');
  const packages = lock.slice(lock.indexOf('\npackages:\n'), lock.indexOf('\nsnapshots:\n'));
  const resolutions = packages.match(/^ {4}resolution: .*/gm) ?? [];
  expect(resolutions.length).toBeGreaterThan(200);
  const hashed = /^ {4}resolution: \{integrity: sha512-[A-Za-z0-9+/=]{86,}\}$/;
  expect(resolutions.filter((line) => !hashed.test(line))).toEqual([]);
});

it('nothing of others runs when packages are installed, and nothing of ours (S24)', () => {
  const settings = read('pnpm-workspace.yaml');
  expect(settings).toMatch(/^strictDepBuilds: true$/m);
  expect(settings).toMatch(/^saveExact: true$/m);
  const allowed = /^allowBuilds: \{(.*)\}$/m.exec(settings)?.[1] ?? 'missing';
  expect(allowed.split(',').filter((one) => !/^ *\w+: false *$/.test(one))).toEqual([]);
  expect(read('tools/setup/prepare.mjs')).toContain("'--frozen-lockfile'");
  const hooks = /^(pre|post)?(install|prepare|publish)$/;
  for (const { name, scripts = {} } of manifests) {
    expect([name, Object.keys(scripts).filter((script) => hooks.test(script))]).toEqual([name, []]);
  }
});
