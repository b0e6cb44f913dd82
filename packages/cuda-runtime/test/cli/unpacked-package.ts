import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const source = fileURLToPath(new URL('../..', import.meta.url));
const nobody = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
/** Root may write everywhere, so programs run as nobody, where nobody can reach this Node. */
const user = isRoot && spawnSync(process.execPath, ['-v'], nobody).status === 0 ? nobody : {};

/** Whether what is read-only is so for the programs of an `UnpackedPackage`. */
export const permissionsHold = !isRoot || 'uid' in user;

/** How a program in the project ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A project in `folder` that has installed this package from its tarball, with its dependencies and
 * nothing else: no platform package, no development dependencies.
 */
export class UnpackedPackage {
  readonly folder: string;
  /** Folder of the package in `node_modules`. */
  readonly root: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.root = join(folder, 'node_modules', '@altstream', 'cuda-runtime');
  }

  /** Packs the present sources, not what `dist` happens to hold, and unpacks the tarball. */
  static async create(folder: string): Promise<UnpackedPackage> {
    chmodSync(folder, 0o755);
    const project = new UnpackedPackage(folder);
    const staged = await stage(join(folder, 'staged'));
    const path = [join(source, '../../.tools/bin'), process.env['PATH']].join(delimiter);
    command('pnpm', ['pack', '--pack-destination', folder], staged, path);
    const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
    mkdirSync(project.root, { recursive: true });
    command(
      'tar',
      ['-xzf', join(folder, tarball), '-C', project.root, '--strip-components=1'],
      folder,
    );
    for (const name of Object.keys(project.manifest.dependencies)) {
      const target = join(folder, 'node_modules', name);
      cpSync(join(source, 'node_modules', name), target, { recursive: true, dereference: true });
    }
    return project;
  }

  get manifest(): { readonly bin: Record<string, string>; readonly dependencies: object } {
    return JSON.parse(readFileSync(join(this.root, 'package.json'), 'utf8'));
  }

  /** Runs the package's command as a user who owns none of its files. */
  cli(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const bin = join(this.root, this.manifest.bin['cuda-runtime'] ?? '');
    return this.node([bin, ...args], variables);
  }

  /** Runs Node in the project as that user. */
  node(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, args, {
        cwd: this.folder,
        env: { PATH: process.env['PATH'], ...variables },
        ...user,
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  /** Takes write permission from everything that was unpacked. */
  makeReadOnly(): void {
    command('chmod', ['-R', 'a-w', this.root], this.folder);
  }

  /** Gives it back, so that the project can be removed. */
  makeWritable(): void {
    command('chmod', ['-R', 'u+w', this.root], this.folder);
  }
}

/** What is packed: `files` of the manifest with a fresh `dist`, and what pnpm needs to pack it. */
async function stage(folder: string): Promise<string> {
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  mkdirSync(folder);
  for (const name of ['package.json', ...manifest.files]) {
    if (name !== 'dist') cpSync(join(source, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(source, 'node_modules'), join(folder, 'node_modules'));
  await build({
    config: join(source, 'tsup.config.ts'),
    entry: ['src/index.ts', 'src/testing/index.ts', 'src/cli/main.ts'].map((file) =>
      join(source, file),
    ),
    outDir: join(folder, 'dist'),
    tsconfig: join(source, 'tsconfig.json'),
    dts: false,
    silent: true,
  });
  return folder;
}

function command(name: string, args: readonly string[], cwd: string, path = process.env['PATH']) {
  const env = { ...process.env, PATH: path };
  const { status, stdout, stderr } = spawnSync(name, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${status}\n${stdout}${stderr}`);
}
