import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Runtime, Stream } from '@altstream/cuda-runtime';
import { describe, expect, it, vi } from 'vitest';
import type { BenchResult } from './bench-case.js';
import { copyCeiling, readCeiling } from './ceilings.js';
import { othersBusy, startLoad, withStartLoad } from './machine-load.js';
import { measure } from './measure.js';
import { commandOf, report } from './report.js';
import { runOptions, splitArguments } from './run-options.js';

/** A device of 64 processors; the loops of its kernels use three threads. */
const runtime = {
  describe: () => ({ details: { threads: 3 } }),
  device: () => ({ name: 'cpu', limits: { sm: '', cpuLevel: 'avx2', processors: 64 } }),
} as unknown as Runtime;
const stream = { synchronize: async () => undefined } as unknown as Stream;
const model = (cpus()[0]?.model ?? 'cpu').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

function saved(right: boolean): BenchResult | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const from = pathToFileURL(join(folder, 'x.bench.ts')).href;
  const machine = { load: 0.25, othersBusy: 0.5 };
  const rows = [{ case: { tokens: 1 }, us: 2, right }];
  report({ bench: 'x', from, runtime, machine, ceilings: { readTBps: 1 }, rows, save: true });
  const file = join(folder, 'results', `${model}-avx2-x3-x.json`);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

describe('a bench run', () => {
  it('reads its flags and refuses others', () => {
    const open = { backend: 'auto', cpu: { threads: 2 } };
    expect(runOptions(['--threads', '2', '--save'])).toEqual({ open, save: true });
    expect(runOptions(['--out', 'kept'])).toMatchObject({ out: 'kept', save: false });
    expect(() => runOptions(['--threads', '0'])).toThrow(/--threads is 0/);
    expect(() => runOptions(['--backend', 'tpu'])).toThrow(/--backend is tpu/);
    expect(() => runOptions(['--sav'])).toThrow(/--sav/);
  });

  it('of all benches tells filters from flags and their values', () => {
    const kept = splitArguments(['add', '--out', 'kept', '--save']);
    expect(kept).toEqual({ filters: ['add'], flags: ['--out', resolve('kept'), '--save'] });
    const split = splitArguments(['add', '--threads', '1', 'topk', '--save']);
    expect(split).toEqual({ filters: ['add', 'topk'], flags: ['--threads', '1', '--save'] });
  });

  it('is saved under the threads of the backend, with its load; never with a wrong row', () => {
    const facts = { load: 0.25, othersBusy: 0.5, ceilings: { readTBps: 1 } };
    expect(saved(true)).toMatchObject({ ...facts, device: expect.stringMatching(/ avx2 x3$/) });
    expect(saved(false)).toBeUndefined();
  });

  it('keeps the command with the variables that change it', () => {
    const command = commandOf('x', ['--save'], { CUDA_RUNTIME_CPU_LEVEL: 'avx2', HOME: '/' });
    const run = 'tsx --conditions=@altstream/source bench/x.bench.ts --save';
    expect(command).toBe(`CUDA_RUNTIME_CPU_LEVEL=avx2 ${run}`);
  });

  it('awaits a run that waits, and calls one that only enqueues several times a sample', async () => {
    const slow = () => new Promise((done) => setTimeout(done, 5));
    expect((await measure(stream, slow)).us).toBeGreaterThan(4000);
    let calls = 0;
    const { us, p95Us } = await measure(stream, () => {
      calls += 1;
    });
    expect(calls).toBeGreaterThan(1000);
    expect(us).toBeLessThanOrEqual(p95Us);
  });

  it('measures ceilings of a plausible size', async () => {
    for (const ceiling of [readCeiling, copyCeiling]) {
      const tbps = await ceiling.measure(1);
      expect(tbps).toBeGreaterThan(1e-4);
      expect(tbps).toBeLessThan(1);
    }
  });

  it('takes the load from the run that started it, and does not count its own work', () => {
    vi.stubEnv('ALTSTREAM_BENCH_LOAD', withStartLoad(0.75)['ALTSTREAM_BENCH_LOAD'] ?? '');
    expect(startLoad()).toBe(0.75);
    vi.unstubAllEnvs();
    const before = { busyMs: 1000, ownMs: 100, atMs: 0 };
    expect(othersBusy(before, { busyMs: 2500, ownMs: 1100, atMs: 1000 })).toBeCloseTo(0.5);
    expect(othersBusy(before, { busyMs: 1500, ownMs: 700, atMs: 1000 })).toBe(0);
  });
});
