import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { growth, type Sample } from './samples.js';
import { soakOptions } from './soak-options.js';
import { isGood, verdict } from './verdict.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('./main.ts', import.meta.url));

// A process of its own, since it throws errors that nobody catches, and its memory is measured.
onEachBackend((backend) => {
  test('a short soak: workers, mistakes, and nothing is wrong or left behind', async () => {
    const out = mkdtempSync(join(tmpdir(), 'soak-'));
    const seed = String(Date.now() % 1_000_000); // printed, so that it can be had again
    const options = ['--import', 'tsx', '--conditions=@altstream/source', program];
    const flags = ['--backend', backend, '--seconds', '8', '--seed', seed, '--out', out];
    try {
      const { stdout } = await run(process.execPath, [...options, ...flags]).catch(tellOutput);
      const [, file] = /^result: (.+)$/m.exec(stdout) ?? [];
      const result = JSON.parse(readFileSync(file ?? '', 'utf8'));
      expect(result).toMatchObject({ isGood: true, leftBehind: {} });
      expect(result.operations).toBeGreaterThan(4000);
      expect(result.workers).toBeGreaterThan(1);
    } finally {
      rmSync(out, { recursive: true });
    }
  });
});

// What was measured is on stdout, which the error of a command leaves out.
function tellOutput(error: Error & { stdout: string; signal?: string; code?: number }): never {
  const { message, stdout, signal, code } = error;
  throw new Error(`${message}\nended by ${signal ?? code}:\n${stdout}`, { cause: error });
}

const sample = (index: number, rssMiB: number): Sample => {
  const rest = { seconds: index, heapMiB: 10, deviceMiB: 1, threads: 9, files: 20 };
  return { operations: index * 1000, rssMiB, ...rest };
};

test('growth is what the line gains, not the noise', () => {
  const noisy = Array.from({ length: 21 }, (_, index) => sample(index, 100 + (index % 2)));
  expect(Math.abs(growth(noisy, 'rssMiB'))).toBeLessThan(0.1);
  const leaking = Array.from({ length: 21 }, (_, index) => sample(index, 100 + 2 * index));
  expect(growth(leaking, 'rssMiB')).toBeCloseTo(40);
  expect(growth([sample(0, 5)], 'rssMiB')).toBe(0);
});

test('a run that leaks is not good', () => {
  const samples = Array.from({ length: 30 }, (_, index) => sample(index, 100 + 3 * index));
  const facts = { operations: 1, counts: {}, seconds: 1, sessions: 1, runtimes: 1, workers: 1 };
  const checks = verdict({ ...facts, samples, leftBehind: { buffer: 2 }, leftRecords: [] });
  const failed = checks.filter((check) => !isGood([check])).map(({ what }) => what);
  expect(failed).toEqual(['objects left behind', 'RSS, MiB gained']);
});

test('a run of few samples is not judged by its RSS', () => {
  const samples = Array.from({ length: 4 }, (_, index) => sample(index, 100 + 30 * index));
  const facts = { operations: 1, counts: {}, seconds: 1, sessions: 1, runtimes: 1, workers: 1 };
  const checks = verdict({ ...facts, samples, leftBehind: {}, leftRecords: [] });
  expect(checks.find(({ what }) => what.startsWith('RSS'))).not.toHaveProperty('most');
  expect(isGood(checks)).toBe(true);
});

test('flags are checked by name', () => {
  expect(soakOptions(['--operations', '7', '--backend', 'cuda'])).toMatchObject({ operations: 7 });
  for (const [flag, value] of [
    ['--operations', '0'],
    ['--seconds', 'x'],
    ['--backend', 'gpu'],
  ] as const) {
    expect(() => soakOptions([flag, value])).toThrow(flag);
  }
});
