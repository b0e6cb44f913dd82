import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Graph,
  GraphExecBrokenError,
  type GraphNode,
  OutOfMemoryError,
  type Tensor,
} from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import { GraphScene } from '../makers/graph-scene.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
let scene: GraphScene;
let made: Disposable[];
let initial: Record<string, number>;
beforeEach(async () => {
  t = await openTestRuntime({ cpu: { poison: true } });
  scene = await GraphScene.open({ ...t, stream: t.device.createStream({ name: 's' }) });
  made = [];
  initial = live();
});
// Whatever was refused: nothing stays.
afterEach(async () => {
  for (const object of made) object[Symbol.dispose]();
  await scene.stream.synchronize();
  expect(live()).toEqual(initial);
  await t.runtime.dispose();
});

/** Objects alive by kind, without the kinds of which there are none. */
function live(): Record<string, number> {
  return Object.fromEntries(Object.entries(t.runtime.stats().live).filter(([, n]) => n > 0));
}

/** What `afterEach` disposes, if the test did not. */
function own<T extends Disposable>(object: T): T {
  made.push(object);
  return object;
}

const ints = (...values: number[]) => own(scene.ints(...values));

/** y = y + 1, z = y, z filled from its second element on: three nodes, of all kinds that change. */
function build(y: Tensor, z: Tensor, step: number): { graph: Graph; nodes: GraphNode[] } {
  const graph = own(scene.device.createGraph());
  const kernel = scene.add(graph, y, 1, step);
  const copy = graph.addCopy(z, y, 4, [kernel]);
  using rest = z.slice(0, 1, 2);
  const fill = graph.addFill(rest, step, 4, [copy]);
  return { graph, nodes: [kernel, copy, fill] };
}

/** An executable whose operands nobody else holds, and what its launches should leave in `seen`. */
function makeExec(seen: Tensor) {
  const old = ints(5);
  const { graph, nodes } = build(old, seen, 1);
  const exec = own(graph.instantiateSync());
  return { exec, nodes, old, graph };
}

describe('a change that is refused at one node', () => {
  test.each([0, 1, 2])('of an update, node %i: all do what they did', async (at) => {
    const [seen, other] = [ints(0, 0), ints(0, 0)];
    const { exec, old, graph } = makeExec(seen);
    const second = build(ints(100), other, 2);
    old.dispose();
    graph.dispose();
    injectFaults(t.runtime).failCall({ api: 'exec.update', after: at });
    expect(() => exec.update(second.graph)).toThrow(OutOfMemoryError);
    const buffers = live()['buffer'];
    exec.launch(scene.stream);
    exec.launch(scene.stream);
    expect(await scene.read(seen)).toEqual([7, 0x01010101]);
    expect(await scene.read(other)).toEqual([0, 0]);
    expect(exec.update(second.graph).ok).toBe(true);
    await scene.stream.synchronize();
    expect(live()['buffer']).toBe((buffers ?? 0) - 1);
    exec.launch(scene.stream);
    expect(await scene.read(other)).toEqual([102, 0x02020202]);
    expect(await scene.read(seen)).toEqual([7, 0x01010101]);
  });

  test('of a setter: the node does what it did', async () => {
    const seen = ints(0, 0);
    const { exec, nodes } = makeExec(seen);
    const [kernel, copy, fill] = nodes as [GraphNode, GraphNode, GraphNode];
    const other = ints(9);
    for (const change of [
      () => scene.set(exec, kernel, other, 1, 50),
      () => exec.setCopy(copy, seen, other, 4),
      () => exec.setFill(fill, other, 3, 4),
      () => exec.setEnabled(kernel, false),
    ]) {
      injectFaults(t.runtime).failCall({ api: 'exec.update' });
      expect(change).toThrow(OutOfMemoryError);
    }
    exec.launch(scene.stream);
    expect(await scene.read(seen)).toEqual([6, 0x01010101]);
    expect(await scene.read(other)).toEqual([9]);
  });
});

test('a change that cannot be taken back breaks the executable, which keeps both', async () => {
  const [seen, other] = [ints(0, 0), ints(0, 0)];
  const { exec, nodes, old, graph } = makeExec(seen);
  const fresh = ints(100);
  const second = build(fresh, other, 2);
  const third = build(ints(1), ints(0, 0), 3);
  const faults = injectFaults(t.runtime);
  faults.failCall({ api: 'exec.update', after: 1 });
  // The call after the refused one is the first that takes back.
  faults.failCall({ api: 'exec.update', after: 1 });
  expect(() => exec.update(second.graph)).toThrow(OutOfMemoryError);
  for (const thing of [old, fresh, graph, second.graph]) thing.dispose();
  for (const use of [
    () => exec.launch(scene.stream),
    () => exec.upload(scene.stream),
    () => exec.update(third.graph),
    () => exec.setEnabled(nodes[0] as GraphNode, false),
    () => exec.setFill(nodes[2] as GraphNode, other, 1, 4),
  ]) {
    expect(use).toThrow(GraphExecBrokenError);
  }
  expect(await scene.read(seen)).toEqual([0, 0]);
  const buffers = live()['buffer'] ?? 0;
  exec.dispose();
  expect(live()['buffer']).toBe(buffers - 2);
});

// Two calls pass, the third is refused, the next three take back.
test.each([
  ['the refused one', 2, true],
  ['the first', 4, true],
  ['none', 5, false],
] as const)('all three nodes are taken back: %s cannot be', (_node, after, breaks) => {
  const { exec } = makeExec(ints(0, 0));
  const second = build(ints(100), ints(0, 0), 2);
  const faults = injectFaults(t.runtime);
  faults.failCall({ api: 'exec.update', after: 2 });
  // Counts calls besides the one that the first rule refuses.
  faults.failCall({ api: 'exec.update', after });
  expect(() => exec.update(second.graph)).toThrow(OutOfMemoryError);
  const launch = () => exec.launch(scene.stream);
  if (breaks) expect(launch).toThrow(GraphExecBrokenError);
  else launch();
});

test('a launch whose end cannot be awaited is one, and keeps what it uses', async () => {
  const y = ints(1);
  const start = () => {
    const [graph, object] = [scene.device.createGraph(), { big: 'thing' }];
    graph.retain(object);
    scene.add(graph, y, 1, 1, scene.spin(graph, 20));
    const exec = graph.instantiateSync();
    graph.dispose();
    exec.launch(scene.stream);
    expect(exec.launches).toBe(1);
    exec.dispose();
    return new WeakRef(object);
  };
  const isThere = async (kept: WeakRef<object>) => {
    globalThis.gc?.();
    await delay(5);
    return kept.deref() !== undefined;
  };
  injectFaults(t.runtime).failCall({ api: 'stream.notify' });
  const kept = start();
  expect(await isThere(kept)).toBe(true);
  expect(await scene.read(y)).toEqual([2]);
  // It goes with the next launch on the stream.
  start();
  expect(await scene.read(y)).toEqual([3]);
  await vi.waitFor(async () => expect(await isThere(kept)).toBe(false), { timeout: 20_000 });
});

test.each([
  ['refused once', 1, false],
  ['refused three times', 3, false],
  ['on a stream that is disposed meanwhile', 2, true],
] as const)(
  'what a launch keeps goes without another launch: its notification %s',
  async (_name, refusals, isDisposed) => {
    const stream = t.device.createStream();
    const faults = injectFaults(t.runtime);
    for (let index = 0; index < refusals; index += 1) faults.failCall({ api: 'stream.notify' });
    const start = () => {
      const [graph, object] = [scene.device.createGraph(), { big: 'thing' }];
      graph.retain(object);
      scene.spin(graph, 100);
      const exec = graph.instantiateSync();
      graph.dispose();
      exec.launch(stream);
      exec.dispose();
      return new WeakRef(object);
    };
    const before = t.runtime.stats().live['stream'] ?? 0;
    const kept = start();
    // Booleans: a failed expectation would keep the object itself.
    const isThere = () => {
      globalThis.gc?.();
      return kept.deref() !== undefined;
    };
    expect(isThere()).toBe(true);
    if (isDisposed) stream.dispose();
    await expect.poll(isThere, { timeout: 10_000 }).toBe(false);
    faults.clear();
    stream.dispose();
    await expect.poll(() => t.runtime.stats().live['stream'] ?? 0).toBe(before - 1);
  },
);
