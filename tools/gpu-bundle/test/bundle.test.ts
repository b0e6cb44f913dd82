import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const packers = ['xz', 'strip', 'tar'].filter(
  (name) => spawnSync(name, ['--version']).error !== undefined,
);
// All that a host needs beside the bundle; there is no Node among it.
const hostPrograms = 'bash cat chmod dirname id mkdir mv rm tar touch xz'.split(' ');

describe.skipIf(packers.length > 0)(`a bundle${missing()}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'altstream-bundle-'));
  const bundle = join(folder, 'moved');
  const home = join(folder, 'bin');

  beforeAll(() => {
    const main = join(root, 'tools/gpu-bundle/src/main.ts');
    const args = [
      '--import',
      'tsx',
      main,
      '--out',
      bundle,
      '--packages',
      'cuda-runtime',
      '--quick',
    ];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(`${status} ${stderr}`).toBe('0 ');
    mkdirSync(home);
    for (const name of hostPrograms) {
      const { stdout } = spawnSync('which', [name], { encoding: 'utf8' });
      symlinkSync(stdout.trim(), join(home, name));
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('has less than 40 MB', () => {
    const bytes = readdirSync(bundle).map((name) => statSync(join(bundle, name)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40e6);
  });

  test('runs a script that imports a package, where there is no other Node', () => {
    const script = join(folder, 'script.mjs');
    writeFileSync(
      script,
      `import { open } from '@altstream/cuda-runtime';
       const runtime = await open({ backend: 'cpu' });
       process.stdout.write(runtime.backend + ' ' + process.execPath);
       await runtime.dispose();`,
    );
    const { output, status } = run(['node', script]);
    expect(output).toBe(`cpu ${bundle}/unpacked/bin/node`);
    expect(status).toBe(0);
  });

  test('runs TypeScript with `using`, which Node 20 cannot read, and disposes in order', () => {
    const script = join(folder, 'script.ts');
    writeFileSync(
      script,
      `const made = (name: string) => ({ [Symbol.dispose]: () => void process.stdout.write(name) });
       const later = (name: string) => ({ [Symbol.asyncDispose]: async () => void process.stdout.write(name) });
       function block(): void { using a = made('a'); using b = made('b'); throw new Error('end'); }
       try { block(); } catch (error) { process.stdout.write((error as Error).message); }
       async function wait(): Promise<void> { await using c = later('c'); using none = null; }
       await wait();
       export {};`,
    );
    expect(run(['node', script])).toEqual({ status: 0, output: 'baendc' });
  });

  test('runs tests there and keeps what came out', () => {
    const out = join(folder, 'out');
    const { output, status } = run(['test', 'conversions', '--out', out], {
      CUDA_RUNTIME_REQUIRE_CUDA: '0',
    });
    expect(output).toMatch(/conversions\.test\.ts +\d+ +0 +0/);
    expect(status).toBe(0);
    const saved = JSON.parse(readFileSync(join(out, 'test.json'), 'utf8'));
    expect(saved).toMatchObject({ command: 'run test conversions', results: [{ failed: 0 }] });
    expect(saved.commit).toMatch(/^([0-9a-f]{7,}\+?|unknown)$/);
  });

  function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const { status, stdout, stderr } = spawnSync(join(bundle, 'run'), args, {
      cwd: tmpdir(),
      env: { PATH: home, ...environment },
      encoding: 'utf8',
    });
    return { status, output: stdout + stderr };
  }
});

function missing(): string {
  return packers.length > 0 ? `: no ${packers.join(' and ')} on this machine` : '';
}
