import { afterEach, describe, expect, test } from 'vitest';
import type { CpuOptions, Stream } from '../../src/index.js';
import { Event, withAlt } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import { accumulate, openTestRuntime, type TestRuntime, zeros } from '../makers/test-kernels.js';

let t: TestRuntime | undefined;
afterEach(() => t?.runtime.dispose());

const cost = {
  kernels: {
    test_accumulate: { us: 10 },
    test_empty: { us: 7 },
    test_fill: { us: 1, bytesPerUs: 4 },
  },
};

async function openVirtual(cpu: CpuOptions = {}): Promise<TestRuntime> {
  t = await openTestRuntime({ cpu: { clock: 'virtual', cost, ...cpu } });
  return t;
}

function empty(opened: TestRuntime, stream: Stream): void {
  stream.launch(opened.kernels.empty, { grid: [1], block: [1] }, { tag: 0 });
}

/** Virtual microseconds of what `work` submits to `stream` and what that waits for. */
async function microseconds(opened: TestRuntime, stream: Stream, work: () => void) {
  const [begin, end] = [0, 1].map(() => opened.device.createEvent({ timing: true }));
  if (!begin || !end) throw new Error('no events');
  stream.record(begin);
  work();
  stream.record(end);
  await end.done();
  return Math.round(Event.elapsedMs(begin, end) * 1e6) / 1000; // the clock counts nanoseconds
}

describe.each(['parallel', 'serial', 'random', 'adversarial'] as const)(
  'the virtual clock under the %s schedule',
  (schedule) => {
    test('a chain of 10 and 7 takes 17, two branches take 10, each time', async () => {
      const opened = await openVirtual({ schedule, seed: 7 });
      const main = opened.device.createStream({ name: 'main' });
      const alt = opened.device.createStream({ name: 'alt' });
      const y = zeros(opened, main, 4);
      await main.synchronize();
      const long = () => accumulate(opened, main, y);
      const chain = () => {
        long();
        empty(opened, main);
      };
      const branches = () => withAlt(main, alt, () => empty(opened, alt), long);
      for (const [body, expected] of [
        [chain, 17],
        [branches, 10],
      ] as const) {
        expect(await microseconds(opened, main, body)).toBe(expected);
        const exec = opened.device.capture(body, { stream: main }).instantiateSync();
        expect(await microseconds(opened, main, () => exec.launch(main))).toBe(expected);
        const twice = () => void exec.launch(main).launch(main);
        expect(await microseconds(opened, main, twice)).toBe(2 * expected);
      }
    });
  },
);

describe('the virtual clock', () => {
  test('counts bytes, and what the host waited for comes before what it submits', async () => {
    const opened = await openVirtual({ cost: { ...cost, copy: { us: 2, bytesPerUs: 100 } } });
    const [a, b] = [0, 1].map(() => opened.device.createStream());
    if (!a || !b) throw new Error('no streams');
    const start = a.record(opened.device.createEvent({ timing: true }));
    const y = zeros(opened, a, 100);
    const end = a.record(opened.device.createEvent({ timing: true }));
    await a.synchronize();
    expect(Event.elapsedMs(start, end) * 1000).toBe(2 + 400 / 100);
    const params = { y, count: 100, value: 1 };
    b.launch(opened.kernels.fill, { grid: [1], block: [1] }, params);
    const later = b.record(opened.device.createEvent({ timing: true }));
    b.synchronizeSync();
    expect(Event.elapsedMs(end, later) * 1000).toBe(1 + 400 / 4);
  });

  test('gives spans of a trace that overlap exactly', async () => {
    const opened = await openVirtual();
    const main = opened.device.createStream({ name: 'main' });
    const alt = opened.device.createStream({ name: 'alt' });
    const y = zeros(opened, main, 4);
    await main.synchronize();
    const body = () =>
      withAlt(
        main,
        alt,
        () => empty(opened, alt),
        () => accumulate(opened, main, y),
      );
    const exec = opened.device.capture(body, { stream: main }).instantiateSync();
    opened.runtime.trace.start();
    exec.launch(main);
    await main.synchronize();
    const spans = opened.runtime.trace.stop().spans;
    const times = spans.map(({ name, startNs, endNs }) => [name, startNs, endNs]).sort();
    expect(times).toEqual([
      ['test_accumulate', 0, 10_000],
      ['test_empty', 0, 7000],
    ]);
  });

  test('a delay moves what comes after it', async () => {
    const opened = await openVirtual();
    const main = opened.device.createStream();
    injectFaults(opened.runtime).delay('test_empty', 2);
    const work = () => empty(opened, main);
    expect(await microseconds(opened, main, work)).toBe(2007);
  });

  test.each([
    [{ cost: { kernels: { x: { us: -1 } } } }, 'cpu.cost.kernels.x.us'],
    [{ cost: { copy: { bytesPerUs: 0 } } }, 'cpu.cost.copy.bytesPerUs'],
    [{ cost: { fast: {} } }, 'cpu.cost.fast'],
    [{ clock: 'sun' }, 'cpu.clock'],
    [{ reuse: 'never' }, 'cpu.reuse'],
    [{ hangMs: -1 }, 'cpu.hangMs'],
    [{ protect: 1 }, 'cpu.protect'],
  ])('%j is refused and named', async (cpu, name) => {
    await expect(openTestRuntime({ cpu: cpu as CpuOptions })).rejects.toThrow(name);
  });
});
