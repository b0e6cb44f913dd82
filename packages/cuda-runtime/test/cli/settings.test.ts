import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { cli, root } from './run-cli.js';

const folder = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('doctor, where a variable keeps `open` from working', () => {
  test.each([
    ['CUDA_RUNTIME_CPU_LEVEL', 'sse9', 'is sse9, expected baseline, avx2, avx512, amx'],
    ['CUDA_RUNTIME_CPU_THREADS', 'abc', 'is `abc`, expected a positive integer'],
    ['CUDA_RUNTIME_CPU_THREADS', '5000', 'is 5000, expected at most 1024'],
    ['CUDA_RUNTIME_LAUNCH_BY_GRAPH', 'yes', 'is `yes`, expected 0 or 1'],
  ])('%s=%s: names it with the remedy, and ends with 1', (name, value, found) => {
    const { status, stdout, stderr } = cli(['doctor'], { [name]: value });
    expect([status, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(new RegExp(`no +cpu +WRONG_SETTING: .?${name}.? ${found}\n`));
    expect(stdout).toMatch(/expected .*\n +Unset or correct the variable/);
    const json = JSON.parse(cli(['doctor', '--json'], { [name]: value }).stdout);
    expect(json.backends).toEqual([
      expect.objectContaining({ backend: 'cpu', usable: false, reason: 'WRONG_SETTING' }),
      expect.objectContaining({ backend: 'cuda', usable: false }),
    ]);
  });
});

const noToolkit = 'is /nope, expected the absolute path of a CUDA toolkit, with bin/nvcc';
const noChoice = 'is `yes`, expected AUTO, ON or OFF';
const wrong = [
  ['CRT_CUDA_ROOT', '/nope', noToolkit],
  ['CRT_CUDA', 'yes', noChoice],
] as const;

describe('a setting of CUDA that names nothing', () => {
  const variables = { CUDA_RUNTIME_BUILD_DIR: folder };
  test.each(wrong)('build refuses %s=%s before it builds', (name, value, found) => {
    const { status, stderr } = cli(['build'], { ...variables, [name]: value });
    expect([status, stderr]).toEqual([1, `cuda-runtime: ${name} ${found}\n`]);
    const option = cli(['build', `--CD${name}=${value}`], variables);
    expect(option.status).toBeGreaterThan(0);
    expect(option.stderr).toBe(`cuda-runtime: --CD${name} ${found}\n`);
  });

  test.each(wrong)('doctor says of %s=%s that build will refuse it', (name, value, found) => {
    const { stdout } = cli(['doctor'], { [name]: value });
    expect(stdout.replace(/ +/g, ' ')).toContain(`no CUDA toolkit ${name} ${found}\n`);
    expect(stdout).not.toMatch(/ok +CUDA toolkit/);
  });

  // Where tests run beside built packages, as in a GPU bundle, there is nothing to configure.
  const canConfigure = existsSync(join(root, 'CMakeLists.txt'));
  const falseOfCMake = ['CRT_CUDA', '0', 'is `0`, expected AUTO, ON or OFF'] as const;
  test.skipIf(!canConfigure).each([...wrong, falseOfCMake])(
    'cmake refuses %s=%s by itself, too',
    (name, value, found) => {
      const given = [
        { args: [], env: { ...process.env, [name]: value } },
        { args: [`-D${name}=${value}`], env: process.env },
      ];
      for (const { args, env } of given) {
        const all = ['-S', root, '-B', join(folder, 'by-hand'), ...args];
        const { status, stderr } = spawnSync('cmake', all, { env, encoding: 'utf8' });
        expect(status).toBe(1);
        expect(stderr.replace(/\s+/g, ' ')).toContain(`${name} ${found}`);
      }
    },
  );
});
