import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeviceLostError, OutOfMemoryError, type Stream } from '../../src/index.js';
import { type FaultyCall, injectFaults } from '../../src/testing/index.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

let t: TestRuntime;
let s: Stream;
beforeEach(async () => {
  t = await openTestRuntime();
  s = t.device.createStream({ name: 's' });
});
afterEach(() => t.runtime.dispose());

describe('a call made to fail', () => {
  test('is the one after `after` others, and changes nothing', async () => {
    const y = zeros(t, s, 4);
    injectFaults(t.runtime).failCall({ api: 'stream.launch', after: 2 });
    accumulate(t, s, y);
    accumulate(t, s, y);
    expect(() => accumulate(t, s, y)).toThrow(OutOfMemoryError);
    accumulate(t, s, y);
    expect(await readInts(s, y)).toEqual([3, 3, 3, 3]);
  });

  const perform: Readonly<Record<FaultyCall, () => unknown>> = {
    'device.alloc': () => t.device.alloc(16),
    'device.allocHost': () => t.device.allocHostSync(16),
    'stream.launch': () => accumulate(t, s, zeros(t, s, 1)),
    'stream.copy': () => s.copy(zeros(t, s, 1), zeros(t, s, 1)),
    'stream.fill': () => s.fill(t.device.alloc(4), 1),
    'stream.write': () => s.write(t.device.alloc(4), new Uint8Array(4)),
    'stream.read': () => s.read(t.device.alloc(4), new Uint8Array(4)),
    'stream.notify': () => s.notify(() => {}),
    'stream.mark': () => s.record(),
    'stream.wait': () => t.device.createStream().wait(s.record()),
    'graph.instantiate': () => t.device.capture(() => {}, { stream: s }).instantiateSync(),
    'exec.launch': () =>
      t.device
        .capture(() => {}, { stream: s })
        .instantiateSync()
        .launch(s),
    'exec.update': () => {
      const graph = t.device.createGraph();
      const node = graph.addFill(t.device.alloc(4), 1);
      graph.instantiateSync().setEnabled(node, false);
    },
    'runtime.loadModule': () =>
      t.runtime.loadModule({ manifest: t.module.manifest.replace(/\/manifest/, '/./manifest') }),
  };

  test.each(Object.keys(perform) as FaultyCall[])(
    '%s fails once, with the error asked for',
    async (api) => {
      const attempt = async () => void (await perform[api]());
      if (api === 'stream.wait') {
        // Only a wait for something that is pending is one.
        injectFaults(t.runtime).delay('fill', 50);
        zeros(t, s, 1);
      }
      injectFaults(t.runtime).failCall({ api, error: { code: 'CRT_INTERNAL', number: 999 } });
      await expect(attempt()).rejects.toMatchObject({
        code: 'CRT_INTERNAL',
        cuda: { number: 999 },
      });
      await attempt();
      await s.synchronize();
    },
  );

  test('`clear` forgets it, and other backends and bad rules are refused', () => {
    const faults = injectFaults(t.runtime);
    faults.failCall();
    faults.clear();
    t.device.alloc(16).dispose();
    expect(() => faults.failCall({ after: -1 })).toThrow('fault.after');
    expect(() => faults.failCall({ api: 'stream.dance' as FaultyCall })).toThrow('fault.api');
    expect(() => faults.delay('fill', Number.NaN)).toThrow('milliseconds');
    expect(() => faults.failKernel('x', 0)).toThrow('number');
  });
});

describe('a kernel made to fail', () => {
  test('loses the device: promises reject, every later call answers the same', async () => {
    const other = t.device.createStream({ name: 'other' });
    const y = zeros(t, s, 4);
    const end = t.device.createEvent();
    await s.synchronize();
    const exec = t.device.capture(() => accumulate(t, s, y), { stream: s }).instantiateSync();
    injectFaults(t.runtime).failKernel('test_accumulate', 700, { after: 1 });
    accumulate(t, s, y);
    await s.synchronize();
    let notified = false;
    injectFaults(t.runtime).delay('fill', 50);
    s.fill(y, 0);
    accumulate(t, s, y);
    s.record(end);
    s.notify(() => {
      notified = true;
    });
    const waits = [s.synchronize(), s.read(y, new Uint8Array(16)), end.done(), s.ready(1)];
    for (const result of await Promise.allSettled(waits)) {
      expect(result).toMatchObject({ reason: { code: 'CRT_DEVICE_LOST', cuda: { number: 700 } } });
    }
    await expect(s.ready()).rejects.toMatchObject({ code: 'CRT_DEVICE_LOST' });
    await expect(other.ready()).rejects.toMatchObject({ code: 'CRT_DEVICE_LOST' });
    const later = [
      () => accumulate(t, s, y),
      () => s.synchronizeSync(),
      () => s.isIdle(),
      () => end.isDone(),
      () => other.record(),
      () => other.waitStream(s),
      () => other.fill(y, 0),
      () => other.write(y, new Uint8Array(16)),
      () => t.device.alloc(16),
      () => t.device.allocHostSync(16),
      () => t.device.synchronizeSync(),
      () => exec.launch(other),
      () => other.beginCapture(),
    ];
    for (const call of later) {
      expect(call).toThrow(DeviceLostError);
      expect(call).toThrow(/kernel test_accumulate fail with error 700/);
    }
    await expect(s.synchronize()).rejects.toThrow(DeviceLostError);
    expect(notified).toBe(false);
    expect(t.runtime.stats().droppedNotifications).toBe(1);
    const next = await openTestRuntime();
    accumulate(next, next.device.legacyStream, zeros(next, next.device.legacyStream, 1));
    await next.device.synchronize();
    await next.runtime.dispose();
  });

  test('inside a graph does the same', async () => {
    const y = zeros(t, s, 4);
    await s.synchronize();
    const exec = t.device.capture(() => accumulate(t, s, y), { stream: s }).instantiateSync();
    injectFaults(t.runtime).failKernel('test_accumulate');
    exec.launch(s);
    await expect(s.synchronize()).rejects.toMatchObject({
      code: 'CRT_DEVICE_LOST',
      cuda: { number: 700 },
    });
  });
});

test('a delay makes an operation late, lost wake-ups cost time only', async () => {
  const faults = injectFaults(t.runtime);
  faults.delay('fill', 40);
  const begin = performance.now();
  zeros(t, s, 1);
  await s.synchronize();
  expect(performance.now() - begin).toBeGreaterThanOrEqual(39);
  faults.dropWakeups(1000);
  zeros(t, s, 1);
  s.synchronizeSync();
  faults.clear();
});
