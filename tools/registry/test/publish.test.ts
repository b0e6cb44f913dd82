import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { byVersion } from '../src/by-version.js';
import { childEnvironment } from '../src/child-environment.js';
import { elfNeeds } from '../src/elf.js';
import { installedPackages } from '../src/installed-packages.js';
import { LoopbackRegistry } from '../src/loopback-registry.js';
import { refusePublicRegistry } from '../src/refuse-public-registry.js';
import { runChild } from '../src/run-child.js';
import { runPublisher } from '../src/run-publisher.js';
import { type UnpackedTarball, unpackTarball } from '../src/tarball.js';
import { copyWorkspace, workspacePackages } from '../src/workspace-copy.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const changeset = join(root, 'node_modules', '@changesets', 'cli', 'bin.js');
const publishable = workspacePackages(root).filter(({ manifest }) => !manifest.private);
const folder = mkdtempSync(join(tmpdir(), 'altstream-publish-'));
const copy = join(folder, 'copy');
const tarballs = new Map<string, UnpackedTarball>();

/** Holds what was published; knows no other package. */
let registry: LoopbackRegistry;
/** Where everything outside the scope comes from. */
let thirdParties: LoopbackRegistry;
let publisher: Readonly<Record<string, string>>;

async function run(command: string, ...args: string[]): Promise<string> {
  const options = { cwd: copy, environment: publisher, timeoutMs: 110_000 };
  const { code, output } = await runPublisher(command, args, options);
  expect(code, `${command} ${args.join(' ')}\n${output}`).toBe(0);
  return output;
}

beforeAll(async () => {
  registry = await LoopbackRegistry.start();
  publisher = childEnvironment(root, folder, registry.url);
  refusePublicRegistry(publisher);
  thirdParties = await LoopbackRegistry.start(installedPackages(root));
  mkdirSync(copy);
  copyWorkspace(root, copy);
  await run('git', 'init', '--quiet');
  await run('git', 'add', '.changeset', 'package.json', 'packages/*/package.json');
  await run('git', 'commit', '--quiet', '--message', 'copy');
  await run(process.execPath, changeset, 'publish');
  for (const { manifest } of publishable) {
    const tarball = registry.tarball(manifest.name, manifest.version);
    if (!tarball) throw new Error(`${manifest.name} was not published`);
    tarballs.set(manifest.name, unpackTarball(tarball, join(folder, 'unpacked', manifest.name)));
  }
});

afterAll(async () => {
  await registry?.close();
  await thirdParties?.close();
  rmSync(folder, { recursive: true, force: true });
});

function unpacked(name: string): UnpackedTarball & { readonly manifest: Record<string, unknown> } {
  const tarball = tarballs.get(name);
  if (!tarball) throw new Error(`no tarball of ${name}`);
  const manifest = JSON.parse(readFileSync(join(tarball.folder, 'package.json'), 'utf8'));
  return { ...tarball, manifest };
}

/** Every file that a manifest promises by path. */
function promisedFiles(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(promisedFiles);
}

/** A top-level name against an entry of `files`, which may begin with a star. */
function matches(name: string, pattern: string): boolean {
  return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

/** The package that holds weights and no code. */
const demoModel = '@altstream/minimax-m3-tiny';

/** What may lie at the top of a package besides what `files` names. */
const alwaysPacked = ['LICENSE', 'README.md', 'package.json'];
/** What nobody who installs a package needs, or may see. */
const unwanted =
  /(^|\/)(test|tests|bench|src|node_modules|\.turbo)\/|\.test\.|\.bench\.|\.tsbuildinfo$/;
/** As they stand alone: `/root` is a home, `src/root-path.ts` is not in it. */
const machineNames = [root, homedir(), hostname(), folder]
  .filter((name) => name.length > 4)
  .map((name) => new RegExp(`(?<![\\w.-])${name.replace(/[.+]/g, '\\$&')}(?![\\w-])`));

describe('what was published', () => {
  it('is every public package, once', () => {
    expect([...registry.published].sort()).toEqual(
      publishable.map(({ manifest }) => `${manifest.name}@${manifest.version}`).sort(),
    );
  });

  it.each(publishable.map(({ manifest }) => manifest))('$name holds what it names', (source) => {
    const { files, manifest } = unpacked(source.name);
    const tops = new Set(files.map((file) => file.split('/')[0] ?? ''));
    expect(alwaysPacked.filter((name) => !tops.has(name))).toEqual([]);
    const named = [...new Set([...alwaysPacked, ...(source.files ?? [])])];
    if (!source.name.endsWith('-linux-x64')) {
      const isThere = (pattern: string) => [...tops].some((top) => matches(top, pattern));
      expect(named.filter((pattern) => !isThere(pattern))).toEqual([]);
      const isNamed = (top: string) => named.some((pattern) => matches(top, pattern));
      expect([...tops].filter((top) => !isNamed(top))).toEqual([]);
    }
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
    const promised = promisedFiles([manifest['exports'], manifest['bin']]);
    if (source.name !== demoModel) expect(promised.length).toBeGreaterThan(0);
    expect(promised.filter((file) => !files.includes(file.replace(/^\.\//, '')))).toEqual([]);
  });

  it.each(publishable.map(({ manifest }) => manifest))('$name is for strangers', (source) => {
    const { files, folder: place, manifest } = unpacked(source.name);
    const text = JSON.stringify(manifest);
    expect(text).not.toContain('workspace:');
    expect(text).not.toContain('@altstream/source');
    expect(manifest['license']).toBe('Apache-2.0');
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']) {
      expect(manifest['scripts'] ?? {}).not.toHaveProperty(name);
    }
    for (const file of files) {
      const content = readFileSync(join(place, file), 'latin1');
      const found = machineNames.filter((name) => name.test(content));
      expect(found, `${file} names this machine`).toEqual([]);
      expect(content, file).not.toMatch(/registry\.(npmjs|yarnpkg)|127\.0\.0\.1:\d{5}/);
    }
  });
});

describe(demoModel, () => {
  it('holds a checkpoint and no code, and is small', () => {
    const { files, folder: place, manifest } = unpacked(demoModel);
    for (const field of ['main', 'exports', 'bin', 'scripts', 'dependencies']) {
      expect(manifest).not.toHaveProperty(field);
    }
    const isWanted = /(\.(safetensors|json|jinja|md|jsonl)|^LICENSE)$/;
    expect(files.filter((file) => !isWanted.test(file))).toEqual([]);
    const index = readFileSync(join(place, 'model.safetensors.index.json'), 'utf8');
    const { weight_map: map } = JSON.parse(index) as { weight_map: Record<string, string> };
    const shards = files.filter((file) => file.endsWith('.safetensors'));
    expect([...new Set(Object.values(map))].sort()).toEqual(shards);
    const bytes = files.reduce((sum, file) => sum + statSync(join(place, file)).size, 0);
    expect(bytes).toBeLessThan(24e6);
  });
});

describe.each(
  publishable.map(({ manifest }) => manifest.name).filter((name) => name.endsWith('-linux-x64')),
)('%s', (name) => {
  function binaries(): string[] {
    return unpacked(name).files.filter((file) => /\.(node|so|fatbin)$/.test(file));
  }

  it('holds the binaries and nothing else', () => {
    const { files, folder: place, manifest } = unpacked(name);
    expect(manifest).toMatchObject({ os: ['linux'], cpu: ['x64'], libc: ['glibc'] });
    const rest = files.filter((file) => !alwaysPacked.includes(file));
    if (!files.includes('manifest.json')) return expect(rest).toEqual(['cuda_runtime.node']);
    const { cpu, fatbins } = JSON.parse(readFileSync(join(place, 'manifest.json'), 'utf8'));
    expect(rest.sort()).toEqual([cpu, ...fatbins.map(fileOfFatbin), 'manifest.json'].sort());
  });

  it('asks for glibc and nothing else', () => {
    for (const file of binaries().filter((binary) => !binary.endsWith('.fatbin'))) {
      const { libraries, searchPaths, others } = elfNeeds(join(unpacked(name).folder, file));
      const allowed = /^(lib(c|m|dl|rt|pthread)|ld-linux-x86-64)\.so\.\d$/;
      expect(libraries.filter((library) => !allowed.test(library))).toEqual([]);
      expect({ searchPaths, others }).toEqual({ searchPaths: [], others: [] });
    }
  });

  // A newer glibc has newer versions of the same symbols: only a release machine can keep the
  // floor.
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime: string } };
  const isNewer = byVersion(header.glibcVersionRuntime, '2.36') > 0;
  it.skipIf(isNewer)(`keeps its glibc floor (needs a build on 2.36 or older)`, () => {
    const { folder: place, manifest } = unpacked(name);
    const { glibc: floor } = manifest['config'] as { glibc: string };
    expect(readFileSync(join(place, 'README.md'), 'utf8')).toContain(`glibc ${floor} or newer`);
    for (const file of binaries().filter((binary) => !binary.endsWith('.fatbin'))) {
      const { glibc } = elfNeeds(join(place, file));
      expect(byVersion(glibc, floor), `${file} needs ${glibc}, promised ${floor}`).toBeLessThan(1);
    }
  });
});

function fileOfFatbin(fatbin: unknown): string {
  return typeof fatbin === 'string' ? fatbin : (fatbin as { file: string }).file;
}

const program = `
  import { open, Tensor } from '@altstream/cuda-runtime';
  import { add, loadDenseKernels } from '@altstream/dense-kernels';
  const runtime = await open({ backend: 'cpu' });
  await loadDenseKernels(runtime);
  const stream = runtime.device().createStream();
  const a = Tensor.allocate(runtime.device(), [3], 'f32', { stream });
  stream.write(a, Float32Array.of(1, 2, 3));
  const sums = new Float32Array(3);
  await stream.read(add({ a, b: a }, { stream }), sums);
  console.log('sums', sums.join(' '));
  await runtime.dispose();
`;

/** Serves what was installed, without a word on which model, and asks it the suite. */
const demoProgram = `
  import { spawn, spawnSync } from 'node:child_process';
  import { once } from 'node:events';
  const altstream = 'node_modules/.bin/altstream';
  const server = spawn(altstream, ['serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  server.stdout.on('data', (text) => { output += text; });
  while (!output.includes('Altstream serves') && server.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [, model, url] = /Altstream serves (\\S+) at (\\S+)/.exec(output) ?? [];
  console.log('model', model);
  if (server.exitCode === null) {
    const args = ['eval', '--suite', 'demo', '--limit', '1', '--base-url', url];
    const { status, stdout } = spawnSync(altstream, args, { encoding: 'utf8' });
    console.log(stdout, 'eval', status);
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  }
`;

/** An empty project that takes the scope from the registry and the rest from elsewhere. */
async function installed(name: string, ...args: string[]) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(cwd, '.npmrc'), `@altstream:registry=${registry.url}\n`);
  writeFileSync(join(cwd, 'program.mjs'), program);
  const environment = { ...publisher, npm_config_registry: thirdParties.url };
  const start = (command: string, ...rest: string[]) =>
    runChild(command, rest, { cwd, environment, timeoutMs: 55_000 });
  const { code, output } = await start('npm', 'install', ...args);
  expect(code, output).toBe(0);
  return { cwd, start };
}

describe('an empty project', () => {
  it('installs the kernels and adds', async () => {
    const { cwd, start } = await installed('user', '@altstream/dense-kernels');
    expect(await start(process.execPath, 'program.mjs')).toEqual({
      code: 0,
      output: 'sums 2 4 6\n',
    });
    const lock = readFileSync(join(cwd, 'package-lock.json'), 'utf8');
    expect(lock).toContain(`${registry.url}@altstream/dense-kernels-linux-x64/`);
  });

  it('says what to do when the binaries were left out', async () => {
    const { start } = await installed('bare', '--omit=optional', '@altstream/dense-kernels');
    const { code, output } = await start(process.execPath, 'program.mjs');
    expect(code).not.toBe(0);
    expect(output).toContain('NO_ADDON');
    for (const remedy of ['--include=optional', 'cuda-runtime build', 'CUDA_RUNTIME_BINARY']) {
      expect(output).toContain(remedy);
    }
  });

  it('installs the server, whose doctor finds the CPU backend', async () => {
    const { cwd, start } = await installed('server', '@altstream/server');
    const { code, output } = await start(join('node_modules', '.bin', 'altstream'), 'doctor');
    expect(code, output).toBe(0);
    expect(output).toMatch(/^ok +backend cpu/m);
    expect(existsSync(join(cwd, 'node_modules', 'vitest'))).toBe(false);
    // The demo model came along, and is found by its name.
    writeFileSync(join(cwd, 'demo.mjs'), demoProgram);
    const demo = await start(process.execPath, 'demo.mjs');
    expect(demo.output).toContain('model minimax-m3-tiny\n');
    expect(demo.output).toMatch(/^tool_call +1 [\s\S]*^all +14 [\s\S]* eval 0\n/m);
  });
});

describe('changeset version', () => {
  it('bumps a package, its platform package and its users together', async () => {
    const before = new Map(publishable.map(({ manifest }) => [manifest.name, manifest.version]));
    const sentence = 'The publish test was here.';
    writeFileSync(
      join(copy, '.changeset', 'publish-test.md'),
      `---\n"@altstream/cuda-runtime": minor\n---\n\n${sentence}\n`,
    );
    await run(process.execPath, changeset, 'version');
    const after = new Map(workspacePackages(copy).map((p) => [p.manifest.name, p.manifest]));
    for (const main of ['cuda-runtime', 'dense-kernels', 'attention-kernels', 'moe-kernels']) {
      const { version, optionalDependencies } = after.get(`@altstream/${main}`) ?? {};
      expect(version, main).not.toBe(before.get(`@altstream/${main}`));
      expect(after.get(`@altstream/${main}-linux-x64`)?.version).toBe(version);
      expect(Object.values(optionalDependencies ?? {})).toEqual(['workspace:*']);
    }
    const changelog = join(copy, 'packages', 'cuda-runtime', 'CHANGELOG.md');
    expect(readFileSync(changelog, 'utf8')).toContain(sentence);
  });
});
