import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  CudaRuntimeError,
  type DeviceBuffer,
  DisposedError,
  type OpenOptions,
  OutOfMemoryError,
  open,
  openSync,
  type Runtime,
  Tensor,
} from '../src/index.js';
import { cpuLevels, download, seededRandom, upload } from '../src/testing/index.js';
import { openTestRuntime, type TestRuntime, zeros } from './makers/test-kernels.js';

const opened: Runtime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.dispose();
});

async function start(options: OpenOptions): Promise<TestRuntime> {
  const t = await openTestRuntime(options);
  opened.push(t.runtime);
  return t;
}

describe('options of the CPU backend', () => {
  test('limitBytes: too large an allocation is OutOfMemoryError, and the runtime goes on', async () => {
    const t = await start({ cpu: { limitBytes: 1 << 20 } });
    const allocate = () => t.device.alloc(2 << 20, { label: 'weights' });
    expect(allocate).toThrow(OutOfMemoryError);
    expect(allocate).toThrow(/2097152 bytes for weights.*of 1048576/);
    expect(t.device.alloc(1 << 19).bytes).toBe(1 << 19);
  });

  test.each(['threads', 'maxThreads'])('%s: more than a machine can start are refused', (name) => {
    for (const count of [1025, 2 ** 40]) {
      const openMany = () => openSync({ backend: 'cpu', isolated: true, cpu: { [name]: count } });
      expect(openMany).toThrow(expect.objectContaining({ code: 'CRT_ARGUMENT' }));
      expect(openMany).toThrow(`\`cpu.${name}\` is ${count}, expected at most 1024`);
    }
  });

  test('strictEvents: waiting for a never-recorded event is an error', async () => {
    const t = await start({ strictEvents: true });
    const stream = t.device.createStream();
    expect(() => stream.wait(t.device.createEvent())).toThrow(
      expect.objectContaining({ code: 'CRT_EVENT_NOT_RECORDED' }),
    );
  });

  test('poison: fresh memory is 0xA5', async () => {
    const t = await start({ cpu: { poison: true } });
    const stream = t.device.createStream();
    const bytes = new Uint8Array(100);
    await stream.read(t.device.alloc(100, { stream }), bytes);
    expect(new Set(bytes)).toEqual(new Set([0xa5]));
  });

  test.each(cpuLevels())(
    'level %s: a kernel with several implementations has the same bits',
    async (level) => {
      const t = await start({ cpu: { level } });
      const stream = t.device.createStream();
      const values = seededRandom(3).floats(1003);
      const [a, y] = [upload(stream, values, [1003], 'f32'), stream.tensor([1003], 'f32')];
      const params = { a, b: null, y, count: 1003, scale: 0.1 };
      stream.launch(t.kernels.add, { grid: [4], block: [256] }, params);
      const expected = values.map((value) => Math.fround(value * Math.fround(0.1)));
      expect(await download(stream, y)).toEqual(expected);
    },
  );

  test.each([1, 2, 5])('threads %i: a parallel loop covers every index once', async (threads) => {
    const t = await start({ cpu: { threads } });
    const stream = t.device.createStream();
    const y = stream.tensor([10_000], 'i64');
    stream.launch(t.kernels.parallel, { grid: [1], block: [256] }, { y, count: 10_000n, grain: 7 });
    const squares = BigInt64Array.from({ length: 10_000 }, (_, index) => BigInt(index * index));
    expect(await download(stream, y)).toEqual(squares);
  });
});

test('stats tell the threads and the memory of the CPU backend by name', async () => {
  const t = await start({ cpu: { threads: 3 } });
  const stream = t.device.createStream();
  const y = stream.tensor([1000], 'i64');
  stream.launch(t.kernels.parallel, { grid: [1], block: [256] }, { y, count: 1000n, grain: 1 });
  await stream.synchronize();
  const stats = t.runtime.stats();
  expect(stats.parallelThreads).toBe(3);
  expect(stats.executorThreads).toBeGreaterThanOrEqual(1);
  expect([stats.bytesCached, stats.kernelsWithoutWait]).toEqual([0, 0]);
});

describe('programmatic launches', () => {
  const config = { grid: [1], block: [1] } as const;
  const dependent = { ...config, programmatic: { serialize: true } } as const;

  async function run(second: 'pdl_second' | 'pdl_no_wait', cpu: OpenOptions['cpu'] = {}) {
    const t = await start({ cpu });
    const stream = t.device.createStream({ name: 's' });
    const [x, y, early] = [zeros(t, stream, 1), zeros(t, stream, 1), zeros(t, stream, 1)];
    await stream.synchronize();
    const launch = () => {
      const first = { x: null, y: x, started_early: null, value: 7, microseconds: 30_000 };
      stream.launch(t.kernels.pdl_first, config, first);
      const params = { x, y, started_early: early, value: 7, microseconds: 0 };
      stream.launch(t.kernels[second], dependent, params);
    };
    const read = async () => [(await download(stream, y))[0], (await download(stream, early))[0]];
    return { t, stream, launch, read };
  }

  test('the dependent starts early and still sees what it waited for', async () => {
    const { launch, read } = await run('pdl_second');
    launch();
    expect(await read()).toEqual([7, 1]);
  });

  test('the same in a graph, where the edge is programmatic', async () => {
    const { t, stream, launch, read } = await run('pdl_second');
    const graph = t.device.capture(launch, { stream });
    expect(graph.edges).toEqual([{ from: 0, to: 1, type: 'programmatic', port: 'programmatic' }]);
    graph.instantiateSync().launch(stream);
    expect(await read()).toEqual([7, 1]);
    expect(graph.toDot()).toContain('programmatic');
  });

  test('strictPdl: a kernel that never waits is an error', async () => {
    const { stream, launch } = await run('pdl_no_wait', { strictPdl: true });
    launch();
    const error = await stream.synchronize().catch((thrown: unknown) => thrown);
    expect(CudaRuntimeError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: 'CRT_PDL_NO_WAIT' });
  });
});

describe('CRT_WARN_LEAKS', () => {
  test('names what was collected undisposed', async () => {
    process.env['CRT_WARN_LEAKS'] = '1';
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on('warning', note);
    const runtime = await open({ backend: 'cpu', isolated: true });
    opened.push(runtime);
    forget(runtime);
    for (let round = 0; round < 50 && warnings.length === 0; round += 1) {
      globalThis.gc?.();
      await delay(10);
    }
    process.off('warning', note);
    delete process.env['CRT_WARN_LEAKS'];
    expect(warnings.map(String).join()).toMatch(/buffer forgotten .*undisposed/);
  });

  test('a use after dispose tells where that was; without it, it does not', async () => {
    const causeOf = async (isOn: boolean) => {
      if (isOn) process.env['CRT_WARN_LEAKS'] = '1';
      const runtime = await open({ backend: 'cpu', isolated: true });
      opened.push(runtime);
      delete process.env['CRT_WARN_LEAKS'];
      const buffer = runtime.device().alloc(4);
      giveBack(buffer);
      try {
        runtime.currentStream().fill(buffer, 0);
      } catch (error) {
        return DisposedError.isInstance(error) ? error.cause : error;
      }
    };
    expect(await causeOf(true)).toMatchObject({ stack: expect.stringMatching(/giveBack/) });
    expect(await causeOf(false)).toBe(undefined);
  });
});

function giveBack(buffer: DeviceBuffer): void {
  buffer.dispose();
}

function forget(runtime: Runtime): void {
  for (let index = 0; index < 2; index += 1) {
    Tensor.allocate(runtime.device(), [4], 'f32', { label: 'forgotten' });
  }
}
