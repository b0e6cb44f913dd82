import { expect, test } from 'vitest';
import { Event, open } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import { GraphScene } from '../makers/graph-scene.js';

const us = (microseconds: number) => ({ us: microseconds });
const kernels = {
  test_accumulate: us(10),
  test_condition: us(2),
  test_empty: us(7),
  test_host_count: us(4),
};

async function onVirtualClock(body: (scene: GraphScene) => Promise<void>): Promise<void> {
  const cpu = { clock: 'virtual', cost: { kernels } } as const;
  const runtime = await open({ backend: 'cpu', isolated: true, cpu });
  const device = runtime.device();
  await body(await GraphScene.open({ runtime, device, stream: device.createStream() }));
  await runtime.dispose();
}

/** Virtual microseconds on the scene's stream. */
async function microseconds(scene: GraphScene, work: () => void): Promise<number> {
  const begin = scene.device.createEvent({ timing: true });
  const end = scene.device.createEvent({ timing: true });
  scene.stream.record(begin);
  work();
  scene.stream.record(end);
  await end.done();
  return Math.round(Event.elapsedMs(begin, end) * 1e6) / 1000;
}

test('each turn of a loop takes what its body takes', () =>
  onVirtualClock(async (scene) => {
    const graph = scene.device.createGraph();
    const condition = graph.createCondition(1);
    const [counter, y] = [scene.ints(5), scene.ints(0)];
    await scene.stream.synchronize();
    const { node, body } = graph.addWhile(condition, [scene.empty(graph)]);
    const params = { counter, condition };
    const set = body.addKernel(scene.kernel('condition'), scene.one, params, []);
    scene.add(body, y, 1, 1, set);
    scene.empty(graph, node);
    const exec = graph.instantiateSync();
    expect(await microseconds(scene, () => exec.launch(scene.stream))).toBe(7 + 5 * 12 + 7);
    expect(await scene.read(y)).toEqual([5]);
  }));

test('host functions of branches take their time one after another', () =>
  onVirtualClock(async (scene) => {
    const calls = await scene.calls();
    const graph = scene.device.createGraph();
    for (let branch = 0; branch < 3; branch += 1) graph.addHost(scene.callback(calls));
    scene.empty(graph);
    const exec = graph.instantiateSync();
    expect(await microseconds(scene, () => exec.launch(scene.stream))).toBe(3 * 4);
  }));

test('a device that is lost inside a loop ends the loop', () =>
  onVirtualClock(async (scene) => {
    const graph = scene.device.createGraph();
    const condition = graph.createCondition(1);
    const counter = scene.ints(5);
    await scene.stream.synchronize();
    const { body } = graph.addWhile(condition);
    body.addKernel(scene.kernel('condition'), scene.one, { counter, condition }, []);
    injectFaults(scene.runtime).failKernel('test_condition', 700, { after: 2 });
    graph.instantiateSync().launch(scene.stream);
    await expect(scene.stream.synchronize()).rejects.toMatchObject({ code: 'CRT_DEVICE_LOST' });
  }));
