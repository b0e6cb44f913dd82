import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { open, probe, probeSync } from '../../src/index.js';
import { cpuLevels } from '../../src/testing/index.js';

const level = 'CUDA_RUNTIME_CPU_LEVEL';
const levels = cpuLevels();
let before: string | undefined;
beforeEach(() => {
  before = process.env[level];
});
afterEach(() => {
  if (before === undefined) delete process.env[level];
  else process.env[level] = before;
});

describe('probe says what `open` without options would', () => {
  test('no backend is usable while a variable is wrong, unless an option has its place', async () => {
    process.env[level] = 'sse9';
    for (const reports of [probeSync(), await probe()]) {
      expect(reports).toMatchObject([
        {
          backend: 'cpu',
          usable: false,
          reason: 'WRONG_SETTING',
          detail: '`CUDA_RUNTIME_CPU_LEVEL` is sse9, expected baseline, avx2, avx512, amx',
        },
        { backend: 'cuda', usable: false },
      ]);
    }
    await expect(open({ backend: 'cpu' })).rejects.toThrow(/is sse9, expected/);
    const runtime = await open({ backend: 'cpu', isolated: true, cpu: { level: 'baseline' } });
    expect(runtime.describe().details).toMatchObject({ level: 'baseline' });
    await runtime.dispose();
  });

  test.skipIf(levels.includes('amx'))('the CPU has no level that the machine has not', () => {
    process.env[level] = 'amx';
    const [cpu, cuda] = probeSync();
    expect(cpu).toMatchObject({ usable: false, reason: 'WRONG_SETTING' });
    expect(cpu?.detail).toContain(`${level} is amx, this machine has ${levels.at(-1)}`);
    expect(cuda?.reason).not.toBe('WRONG_SETTING');
  });

  test.each(levels)('both backends are as they are with the level %s', (name) => {
    delete process.env[level];
    const usual = probeSync();
    process.env[level] = name;
    expect(probeSync()).toEqual(usual);
  });
});
