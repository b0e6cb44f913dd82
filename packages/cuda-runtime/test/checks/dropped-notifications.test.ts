import { expect, test } from 'vitest';
import type { Graph } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import {
  accumulate,
  openTestRuntime,
  spin,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

const never = () => expect.unreachable();

/** Loses the device under launches of a graph; how many callbacks were not called, and why not. */
async function dropped(make: (t: TestRuntime) => Graph, launches: number): Promise<number> {
  const t = await openTestRuntime();
  const stream = t.device.createStream();
  const y = zeros(t, stream, 4);
  const exec = make(t).instantiateSync();
  await stream.synchronize();
  injectFaults(t.runtime).failKernel('test_accumulate', 700);
  spin(t, stream, 20); // all is submitted before the device is lost
  accumulate(t, stream, y);
  for (let launch = 0; launch < launches; launch += 1) exec.launch(stream);
  await expect(stream.synchronize()).rejects.toMatchObject({ code: 'CRT_DEVICE_LOST' });
  const { droppedNotifications } = t.runtime.stats();
  await t.runtime.dispose();
  return droppedNotifications;
}

const nodes = (count: number) => (t: TestRuntime) => {
  const graph = t.device.createGraph();
  for (let node = 0; node < count; node += 1) graph.addNotify(never);
  return graph;
};
const captured = (t: TestRuntime) => t.device.capture((s) => void s.notify(never));
const retaining = (t: TestRuntime) => {
  const graph = t.device.createGraph();
  graph.addEmpty();
  graph.retain({});
  return graph;
};

test.each([
  ['one node', nodes(1), 1, 1],
  ['two nodes', nodes(2), 1, 2],
  ['one node, three launches', nodes(1), 3, 3],
  ['a captured notification', captured, 1, 1],
  ['a graph that retains something and notifies nobody', retaining, 2, 0],
] as const)(
  'callbacks of a graph that are not called: %s',
  async (_name, make, launches, count) => {
    expect(await dropped(make, launches)).toBe(count);
  },
);

test('a runtime counts its own callbacks only', async () => {
  expect(await dropped(nodes(1), 1)).toBe(1);
  const fresh = await openTestRuntime();
  expect(fresh.runtime.stats().droppedNotifications).toBe(0);
  await fresh.runtime.dispose();
});
