import { expect, test } from 'vitest';
import { DeviceLostError } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import { accumulate, openTestRuntime, zeros } from '../makers/test-kernels.js';

test('on a lost device what needs it throws, and what the runtime keeps can be inspected', async () => {
  const t = await openTestRuntime();
  const s = t.device.createStream();
  const y = zeros(t, s, 1);
  injectFaults(t.runtime).failKernel('test_accumulate', 700);
  accumulate(t, s, y);
  await expect(s.synchronize()).rejects.toThrow(DeviceLostError);
  for (const call of [
    () => t.device.alloc(8),
    () => s.fill(y, 0),
    () => s.notify(() => undefined),
    () => s.synchronizeSync(),
    () => s.beginCapture(),
    () => t.device.synchronizeSync(),
  ]) {
    expect(call).toThrow(DeviceLostError);
  }
  for (const wait of [s.ready(), s.synchronize(), t.device.synchronize()]) {
    await expect(wait).rejects.toThrow(DeviceLostError);
  }
  const graph = t.device.createGraph();
  graph.addEmpty();
  expect(graph.nodes).toHaveLength(1);
  expect(t.device.createEvent().state).toBe('unrecorded');
  expect(await t.runtime.loadModule({ manifest: t.module.manifest })).toBe(t.module);
  t.runtime.trace.start();
  expect(t.runtime.trace.stop().spans).toEqual([]);
  expect(t.runtime.stats()).toBeDefined();
  await t.runtime.dispose();
});
