import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  BackendUnavailableError,
  type OpenOptions,
  open,
  probe,
  type Runtime,
} from '../src/index.js';
import { cpuLevels } from '../src/testing/index.js';

let opened: Runtime | undefined;
afterEach(async () => {
  await opened?.dispose();
  opened = undefined;
});

describe('probe', () => {
  test('reports both backends, and a reason for each that is not usable', async () => {
    const reports = await probe();
    expect(reports.map(({ backend }) => backend).toSorted()).toEqual(['cpu', 'cuda']);
    const cpu = reports.find(({ backend }) => backend === 'cpu');
    expect(cpu).toMatchObject({ usable: true });
    for (const report of reports) {
      expect(report.napi).toBeGreaterThanOrEqual(8);
      if (!report.usable) expect(report.reason).toMatch(/^[A-Z_]+$/);
    }
  });
});

describe('open', () => {
  test('says what was chosen and why', async () => {
    opened = await open({ backend: 'cpu', isolated: true, cpu: { level: 'baseline', threads: 1 } });
    const report = opened.describe();
    expect(report).toMatchObject({ backend: 'cpu', why: 'asked for', guards: true });
    expect(report.details).toMatchObject({ level: 'baseline', threads: 1 });
    expect(opened.device().limits).toMatchObject({
      cpuLevel: 'baseline',
      maxThreadsPerBlock: 1024,
    });
  });

  test('a backend that is not usable names the reason and the next step', async () => {
    const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
    if (cuda?.usable) return;
    const error = await open({ backend: 'cuda' }).catch((thrown: unknown) => thrown);
    if (!BackendUnavailableError.isInstance(error)) throw new Error(`got ${error}`);
    expect(error).toMatchObject({ code: 'CRT_UNAVAILABLE', reason: cuda?.reason });
    expect(error.hint?.length).toBeGreaterThan(10);
  });

  test('auto falls back to the CPU with one process warning that says why', async () => {
    const cuda = (await probe()).find(({ backend }) => backend === 'cuda');
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    for (let round = 0; round < 2; round += 1) {
      const runtime = await open();
      expect(runtime.backend).toBe(cuda?.usable ? 'cuda' : 'cpu');
      expect(runtime.describe().why).toMatch(cuda?.usable ? 'usable' : (cuda?.reason ?? ''));
      await runtime.dispose();
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    const ours = warnings.filter(({ message }) => message.includes('CPU backend'));
    expect(ours).toHaveLength(cuda?.usable ? 0 : 1);
  });

  test('isolated runtimes are their own, each with its level', async () => {
    for (const level of cpuLevels()) {
      const runtime = await open({ backend: 'cpu', isolated: true, cpu: { level } });
      expect(runtime.device().limits.cpuLevel).toBe(level);
      await runtime.dispose();
    }
    expect(cpuLevels()[0]).toBe('baseline');
  });

  test('a last report that fails does not keep the runtime open', async () => {
    const runtime = await open({ backend: 'cpu', isolated: true });
    const stream = runtime.currentStream();
    vi.spyOn(runtime, 'stats').mockImplementation(() => {
      throw new Error('no report');
    });
    await expect(runtime.dispose()).rejects.toThrow('no report');
    expect(() => runtime.device().createStream()).toThrow(/the cpu runtime is disposed/);
    expect(stream.isDisposed).toBe(true);
    await runtime.dispose();
  });

  test('counts live objects and bytes', async () => {
    opened = await open({ backend: 'cpu', isolated: true });
    const buffer = opened.device().alloc(4096);
    expect(opened.stats()).toMatchObject({ live: { buffer: 1 }, bytesInUse: 4096 });
    buffer.dispose();
  });
});

describe('a second open', () => {
  test.each<[string, OpenOptions, OpenOptions, string]>([
    [
      'one of the CPU',
      { cpu: { threads: 2 } },
      { cpu: { threads: 1 } },
      '`cpu.threads` 2, asked for 1',
    ],
    ['one that was left out', {}, { guards: false }, '`guards` true, asked for false'],
    [
      'several',
      { maxPending: 10, cpu: { schedule: 'serial' } },
      { maxPending: 20, cpu: { schedule: 'serial', seed: 7 } },
      '`maxPending` 10, asked for 20; `cpu.seed` 1, asked for 7',
    ],
    [
      'one deep inside',
      { cpu: { clock: 'virtual', cost: { copy: { us: 3 } } } },
      { cpu: { clock: 'virtual' } },
      '`cpu.cost.copy.us` 3, asked for none',
    ],
  ])('other options than the open runtime has: %s', async (_, first, second, found) => {
    opened = await open({ backend: 'cpu', ...first });
    const again = open({ backend: 'cpu', ...second });
    await expect(again).rejects.toThrow(
      `open: the cpu runtime of this thread is open with ${found}. Use the same options, dispose it`,
    );
  });

  test('the same options in another order give the same runtime', async () => {
    opened = await open({ backend: 'cpu', cpu: { seed: 3, threads: 1 }, guards: true });
    const again = await open({ cpu: { threads: 1, seed: 3 }, backend: 'cpu', guards: true });
    expect(again).toBe(opened);
    await again.dispose();
  });
});
