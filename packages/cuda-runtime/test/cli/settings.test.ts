import { describe, expect, test } from 'vitest';
import { cli } from './run-cli.js';

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
