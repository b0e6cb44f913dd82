import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeSync } from '../../src/index.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = join(root, 'build/tests/driver_conformance');
const sources = join(root, 'test/native/driver_conformance');
const build = join(root, 'build/driver-conformance');

function run(command: string, ...args: string[]) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8' });
}

const configured = run('cmake', '-S', sources, '-B', build);
const hasToolkit = configured.status === 0;
const title = `driver_conformance${hasToolkit ? '' : ': no CUDA toolkit here'}`;

describe.skipIf(!hasToolkit)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), 'driver-conformance-'));
  const out = join(folder, 'out.json');
  afterAll(() => rmSync(folder, { recursive: true }));
  beforeAll(() => {
    const built = run('cmake', '--build', build, '--parallel', '2');
    expect(built.stdout + built.stderr).toContain('Built target driver_conformance');
  }, 600_000);

  test('judges children that answer right, wrong, crash, hang, exit, or say too little', () => {
    const table = join(sources, 'self_test');
    const args = ['--table', table, '--out', out, '--without-device', '--limit', '2'];
    const { status, stdout } = run(program, ...args);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'SELF wrong, -: call: expected 8, got 7',
      'SELF mode G, G: usable: expected yes, got no: G',
      'SELF crash, -: usable: expected yes, got nothing; process: expected to end well, got crash',
      'SELF hang, -: usable: expected yes, got nothing; process: expected to end well, got hang',
      'SELF exit, -: usable: expected yes, got nothing; process: expected to end well, got exit 5',
      'SELF incomplete, -: usable: expected yes, got nothing',
      '3 right, 6 different, 1 not played',
    ]);
    expect(status).toBe(1);
    const report = JSON.parse(readFileSync(out, 'utf8'));
    expect(report).toMatchObject({ backend: 'driver', right: 3, different: 6, notPlayed: 1 });
    expect(report.rows.at(-1)).toMatchObject({ case: 'elsewhere', note: 'not on this machine' });
  });

  test('refuses arguments that it does not know, with the usage', () => {
    expect(run(program, '--tables', 'x')).toMatchObject({ status: 2 });
    expect(
      run(program, '--table', join(folder, 'none'), '--out', out, '--without-device'),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no folder with *.json files'),
    });
  });

  test('says that there is no device where there is none', ({ skip }) => {
    const cuda = probeSync().find(({ backend }) => backend === 'cuda');
    if (cuda?.reason !== 'NO_DRIVER') skip('this machine has a driver');
    const args = ['--table', join(root, 'test/conformance/rows'), '--out', out];
    expect(run(program, ...args)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('no CUDA device'),
    });
  });

  test('has a program for every row of the table', () => {
    const table = join(root, 'test/conformance/rows');
    const { status, stdout } = run(program, '--table', table, '--out', out, '--list');
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});
