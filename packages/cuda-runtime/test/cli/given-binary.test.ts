import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addonIn } from '../../src/native/addon-candidates.js';
import { cli, root } from './run-cli.js';

const folder = mkdtempSync(join(tmpdir(), 'binary-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => {
  writeFileSync(join(folder, 'program.js'), 'console.log("it ran")');
  writeFileSync(join(folder, 'text.node'), 'no addon');
  mkdirSync(join(folder, 'folder.node'));
  copyFileSync(addonIn(join(root, 'build')), join(folder, 'moved.node'));
});

describe('CUDA_RUNTIME_BINARY', () => {
  test.each([
    ['program.js', 'is no file of an addon, whose name ends in .node'],
    ['', 'is no file of an addon, whose name ends in .node'],
    ['folder.node', 'is a folder, expected the file of an addon'],
    ['absent.node', 'is not there'],
    ['text.node', 'file too short'],
  ])('%j is refused, and not run', (name, reason) => {
    const path = join(folder, name);
    const { status, stdout } = cli(['doctor', '--json'], { CUDA_RUNTIME_BINARY: path });
    expect([status, stdout]).toEqual([1, expect.not.stringContaining('it ran')]);
    const { addon, backends } = JSON.parse(stdout);
    expect(addon).toMatchObject([{ what: 'CUDA_RUNTIME_BINARY', path, outcome: 'failed' }]);
    expect(addon[0].reason).toContain(`${path}`);
    expect(addon[0].reason).toContain(reason);
    expect(backends[0].hint).toMatch(/^Correct CUDA_RUNTIME_BINARY, .* or unset it$/);
    expect(backends[0].detail).not.toContain('Correct');
  });

  test('`open` says the same', () => {
    const index = new URL('../../src/index.ts', import.meta.url).href;
    const code = `import(${JSON.stringify(index)}).then(({ open }) => open({ backend: 'cpu' }))`;
    const options = ['--import', 'tsx', '--conditions=@altstream/source', '-e', code];
    const env = { PATH: process.env['PATH'], CUDA_RUNTIME_BINARY: join(folder, 'program.js') };
    const { stdout, stderr } = spawnSync(process.execPath, options, { env, encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/BackendUnavailableError: .*\.node\. Correct CUDA_RUNTIME_BINARY/);
    expect(stderr).not.toContain('Install the optional dependencies');
  });

  test('a relative path would be another file in each folder', () => {
    const { stdout } = cli(['doctor'], { CUDA_RUNTIME_BINARY: 'build/x.node' });
    expect(stdout).toMatch(/build\/x\.node is not an absolute path/);
    expect(stdout).toMatch(/\n +Correct CUDA_RUNTIME_BINARY/);
  });

  test('takes an addon under any name that ends in .node', () => {
    const { status } = cli(['doctor'], { CUDA_RUNTIME_BINARY: join(folder, 'moved.node') });
    expect(status).toBe(0);
  });
});
