import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TraceData, TraceOptions } from '../../src/index.js';
import { nvtx, withAlt } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { chromeEvents, chromeTraceFaults } from '../makers/check-chrome-trace.js';
import {
  accumulate,
  openTestRuntime,
  spin,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
  });
  afterEach(() => t.runtime.dispose());

  const modes: readonly Required<TraceOptions>[] = [
    { mode: 'graph', source: 'backend' },
    { mode: 'graph', source: 'events' },
    { mode: 'operations', source: 'backend' },
    { mode: 'operations', source: 'events' },
  ];

  describe.for(modes)('a trace of $mode by $source', (options) => {
    test('has what ran, who waited for whom, and keeps the rules of Perfetto', async () => {
      const data = await traceProgram(t, options);
      expect(chromeTraceFaults(data.toChromeJson())).toEqual([]);
      expect(data.losses.runningAtStop).toBe(0);
      const spins = data.spans.filter(({ name }) => name === 'test_spin');
      const isNodes = options.mode === 'graph';
      expect(spins).toHaveLength(isNodes ? 5 : 1);
      expect(data.spans.filter(({ kind }) => kind === 'graph')).toHaveLength(isNodes ? 0 : 2);
      for (const { startNs, endNs } of spins) expect(endNs - startNs).toBeGreaterThan(9e6);
      expect(spins[0]).toMatchObject({ kind: 'kernel', grid: [1, 1, 1], block: [1, 1, 1] });
      const flow = data.flows.find(({ from }) => from.name === 'test_accumulate');
      expect(flow?.from.stream).toMatch(/^main#/);
      expect(flow?.to).toMatchObject({ name: 'test_spin', stream: expect.stringMatching(/^alt#/) });
    });
  });

  test('nodes of a graph: each has its capture, replay and node', async () => {
    const data = await traceProgram(t, { source: 'events' });
    const nodes = data.spans.filter(({ node }) => node !== undefined);
    const replays = [1, 2].map((replay) => nodes.filter((span) => span.replay === replay));
    for (const replay of replays) {
      expect(new Set(replay.map(({ captureId }) => captureId)).size).toBe(1);
      expect(replay.map(({ node }) => node).toSorted()).toEqual([0, 1, 2, 3]);
    }
    const [mark] = data.captures;
    expect(data.captures.map(({ phase }) => phase)).toEqual(['begin', 'end']);
    expect(mark?.captureId).toBe(nodes[0]?.captureId);
  });

  test('a trace behind the end of its runtime: the usual disposed error', async () => {
    const { runtime } = await openTestRuntime({ backend });
    runtime.trace.start();
    await runtime.dispose();
    expect(runtime.trace.isOn).toBe(false);
    const disposed = { code: 'CRT_DISPOSED' };
    expect(() => runtime.trace.stop()).toThrow(
      expect.objectContaining({ ...disposed, api: 'trace.stop' }),
    );
    expect(() => runtime.trace.start()).toThrow(
      expect.objectContaining({ ...disposed, api: 'trace.start' }),
    );
  });

  test('without the fork there is no overlap', async () => {
    const main = t.device.createStream({ name: 'main' });
    const { runtime, device } = t;
    const graph = device.capture(
      () => {
        spin(t, main, 5);
        spin(t, main, 5);
      },
      { stream: main },
    );
    const exec = graph.instantiateSync();
    runtime.trace.start();
    exec.launch(main);
    await main.synchronize();
    const data = runtime.trace.stop();
    const [first, second] = data.spans.filter(({ name }) => name === 'test_spin');
    if (!first || !second) throw new Error('two spans expected');
    expect(data.overlap(first, second)).toEqual({ ms: 0, fraction: 0 });
  });

  test.runIf(backend === 'cpu')(
    'a programmatic successor that overlaps its predecessor is a sub-track',
    async () => {
      const { runtime, kernels } = t;
      const main = t.device.createStream({ name: 'main' });
      const [x, y, seen] = [zeros(t, main, 1), zeros(t, main, 1), zeros(t, main, 1)];
      const config = { grid: [1], block: [1] } as const;
      const first = { x: null, y: x, started_early: null, value: 7, microseconds: 50_000 };
      const second = { x, y, started_early: seen, value: 7, microseconds: 0 };
      await main.synchronize();
      runtime.trace.start();
      main.launch(kernels.pdl_first, config, first);
      main.launch(kernels.pdl_second, { ...config, programmatic: { serialize: true } }, second);
      await main.synchronize();
      const data = runtime.trace.stop();
      const names = chromeEvents(data.toChromeJson())
        .filter(({ name }) => name === 'thread_name')
        .map(({ args }) => String(args?.['name']).replace(/#\d+/, ''));
      expect(names).toContain('main (programmatic)');
      expect(chromeTraceFaults(data.toChromeJson())).toEqual([]);
      expect(data.overlap('test_pdl_first', 'test_pdl_second').ms).toBeGreaterThan(0);
    },
  );

  test('ranges of the host nest, and the calls of this package are among them', async () => {
    const data = await traceProgram(t, {});
    const names = data.ranges.map(({ name }) => name);
    for (const name of [
      'capture main',
      'branch alt',
      'withStream main',
      'instantiate',
      'launch graph',
    ]) {
      expect(names).toContain(name);
    }
    const outer = data.ranges.find(({ name }) => name === 'program');
    const inner = data.ranges.find(({ name }) => name === 'capture main');
    expect(inner?.startNs).toBeGreaterThanOrEqual(outer?.startNs ?? Infinity);
    expect(inner?.endNs).toBeLessThanOrEqual(outer?.endNs ?? 0);
    const host = chromeEvents(data.toChromeJson()).filter(({ cat }) => cat === 'host');
    expect(host).toHaveLength(data.ranges.length);
    expect(nvtx.range('off', () => 7)).toBe(7);
    // @ts-expect-error a name is text
    expect(() => nvtx.range(1, () => 7)).toThrow('`name` is 1, expected a string');
  });

  test('memory is a counter that returns to where it was', async () => {
    const { trace } = t.runtime;
    const main = t.device.createStream({ name: 'main' });
    const { bytesInUse } = t.runtime.stats();
    trace.start();
    const tensor = zeros(t, main, 1000);
    await main.synchronize();
    tensor.dispose();
    // The last operation lets go of it a moment after it is complete.
    await expect.poll(() => t.runtime.stats().bytesInUse).toBe(bytesInUse);
    const device = trace.stop().memory.filter(({ place }) => place === 'device');
    const base = device[0]?.bytes ?? -1;
    expect(device.map(({ bytes }) => bytes - base)).toEqual([0, 4000, 0]);
  });

  test('start and stop answer what is out of turn or unknown', async () => {
    const { trace } = t.runtime;
    expect(() => trace.stop()).toThrow('trace.stop: no trace is being recorded');
    trace.start();
    expect(() => trace.start()).toThrow('trace.start: a trace is being recorded');
    expect(trace.stop().spans).toEqual([]);
    // @ts-expect-error no such mode
    expect(() => trace.start({ mode: 'all' })).toThrow(
      '`mode` is all, expected graph or operations',
    );
    // @ts-expect-error no such source
    expect(() => trace.start({ source: 1 })).toThrow('`source` is 1, expected backend or events');
    expect(trace.isOn).toBe(false);
  });
});

// An eager wait between streams, then two launches of a graph with two branches.
async function traceProgram(opened: TestRuntime, options: TraceOptions): Promise<TraceData> {
  const main = opened.device.createStream({ name: 'main' });
  const alt = opened.runtime.streams.get('alt');
  const y = zeros(opened, main, 1);
  await main.synchronize();
  opened.runtime.trace.start(options);
  nvtx.range('program', () => {
    accumulate(opened, main, y);
    const event = main.record();
    alt.wait(event);
    opened.runtime.withStream(alt, () => {
      const { device, kernels } = opened;
      const done = device.alloc(4, { stream: alt });
      const params = { done, microseconds: 10_000 };
      alt.launch(kernels.spin, { grid: [1], block: [1] }, params);
    });
    main.waitStream(alt);
    const graph = opened.device.capture(
      () =>
        withAlt(
          main,
          alt,
          () => void spin(opened, alt, 10),
          () => void spin(opened, main, 10),
        ),
      { stream: main },
    );
    const exec = graph.instantiateSync();
    exec.launch(main).launch(main);
  });
  await main.synchronize();
  return opened.runtime.trace.stop();
}
