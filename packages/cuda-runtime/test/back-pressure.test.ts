import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSync, QueueFullError, type Stream, type Tensor } from '../src/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  spin,
  type TestRuntime,
  zeros,
} from './makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;

  beforeEach(async () => {
    t = await openTestRuntime({ backend, maxPending: 100 });
    s = t.device.createStream({ name: 'full' });
  });
  afterEach(() => t.runtime.dispose());

  test('a stream that is too far ahead refuses, and goes on after ready', async () => {
    const y = zeros(t, s, 1);
    await s.synchronize();
    spin(t, s, 400);
    let launched = 0;
    const launchAll = () => {
      for (; launched < 1000; launched += 1) accumulate(t, s, y);
    };
    expect(launchAll).toThrow(QueueFullError);
    expect(launched).toBeGreaterThan(90);
    expect(s.pending).toBeLessThanOrEqual(100);
    await s.ready(50);
    accumulate(t, s, y);
    expect(await readInts(s, y)).toEqual([launched + 1]);
  });

  test('a graph counts as one, and another stream has a limit of its own', async () => {
    const y = zeros(t, s, 1);
    const record = () => {
      for (let node = 0; node < 300; node += 1) accumulate(t, s, y);
    };
    const exec = t.device.capture(record, { stream: s }).instantiateSync();
    spin(t, s, 50);
    for (let launch = 0; launch < 20; launch += 1) exec.launch(s);
    zeros(t, t.device.createStream(), 1);
    expect(await readInts(s, y)).toEqual([6000]);
  });

  test('a full stream can be captured: what is recorded is not pending', async () => {
    const y = zeros(t, s, 1);
    await s.synchronize();
    spin(t, s, 300);
    expect(catchError(() => launchFor(1000, y))).toBeInstanceOf(QueueFullError);
    const graph = t.device.capture(() => launchFor(200, y), { stream: s });
    expect(graph.nodes).toHaveLength(200);
    expect(catchError(() => launchFor(1000, y))).toBeInstanceOf(QueueFullError);
    expect(s.pending).toBeLessThanOrEqual(100);
    await s.synchronize();
  });

  test('the error names the stream and the ways out', () => {
    spin(t, s, 300);
    const error = catchError(() => {
      for (;;) s.notify(() => undefined);
    });
    expect(error).toMatchObject({ code: 'CRT_QUEUE_FULL', stream: `full#${s.id}` });
    expect(String(error)).toMatch(/at most 100 .*stream\.ready\(\)/);
  });

  test('blocking is refused on the main thread, and a limit must be a number', async () => {
    await turn();
    expect(() => openSync({ queuePolicy: 'block' })).toThrow(/event loop/);
    expect(() => openSync({ queuePolicy: 'drop' as never })).toThrow(/expected throw or block/);
    expect(() => openSync({ maxPending: 0 })).toThrow(/positive integer/);
  });

  function launchFor(count: number, y: Tensor): void {
    for (let launched = 0; launched < count; launched += 1) accumulate(t, s, y);
  }

  function catchError(call: () => void): unknown {
    try {
      call();
    } catch (error) {
      return error;
    }
    throw new Error('nothing was thrown');
  }
});
