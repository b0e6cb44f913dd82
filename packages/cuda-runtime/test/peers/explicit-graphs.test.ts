import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Graph, GraphNode, Stream } from '../../src/index.js';
import { Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { bodiesRun } from '../makers/kernels-overlap.js';
import { collectUntil, errorOf, openPeerScene, type PeerScene } from '../makers/peer-scene.js';
import { accumulate, openTestRuntime, readInts, spin, zeros } from '../makers/test-kernels.js';

const one = { grid: [1], block: [256] } as const;
const single = { grid: [1], block: [1] } as const;

onEachBackend((backend) => {
  let t: PeerScene;
  let [main, side] = [] as Stream[] as [Stream, Stream];

  beforeEach(async () => {
    t = await openPeerScene({ backend, guards: false, cpu: { poison: backend === 'cpu' } });
    ({ main, side } = t);
  });
  afterEach(() => t.runtime.dispose());

  const add = (graph: Graph, y: Tensor, x: number, after: readonly GraphNode[] = []) =>
    graph.addKernel(t.kernels.accumulate, one, { y, count: y.elements, factor: 1, x }, after);

  test('#7: the capture of a body is broken, and neither its parent nor the process', async ({
    skip,
  }) => {
    const y = zeros(t, main, 1);
    await main.synchronize();
    const breaking = [
      () => void main.isIdle(),
      () => {
        throw new Error('of the user');
      },
      () => void accumulate(t, side.waitStream(main), y),
    ];
    for (const fault of breaking) {
      const parent = t.device.createGraph();
      const { then } = parent.addIf(parent.createCondition(1));
      const record = () => {
        accumulate(t, main, y);
        fault();
      };
      expect(() => t.device.capture(record, { stream: main, into: { graph: then } })).toThrow();
      expect([main.captureStatus, side.captureStatus]).toEqual(['none', 'none']);
      // The body is gone (CB21), and so is what its parent could run; both say so.
      for (const use of [() => add(then, y, 1), () => parent.instantiateSync()]) {
        expect(errorOf(use)).toMatchObject({ code: 'CRT_DISPOSED', cuda: { number: 1 } });
      }
      parent.dispose();
    }
    const graph = t.device.createGraph();
    const { then } = graph.addIf(graph.createCondition(1));
    t.device.capture(() => accumulate(t, main, y, 1, 5), { stream: main, into: { graph: then } });
    if (!bodiesRun) skip('the device does not survive conditional bodies under memcheck');
    graph.instantiateSync().launch(main);
    expect(await readInts(main, y)).toEqual([5]);
  });

  test('#10: memory that a fork still uses is not reused', async () => {
    const [out, other] = [zeros(t, main, 64), zeros(t, main, 64)];
    await main.synchronize();
    const graph = t.device.createGraph();
    const memory = graph.addAlloc(256);
    const y = Tensor.of(memory.buffer, [64], 'i32');
    const cleared = graph.addFill(y, 0, undefined, [memory.node]);
    const slow = graph.addKernel(t.kernels.spin, single, { done: null, microseconds: 20_000 }, [
      cleared,
    ]);
    const written = add(graph, y, 7, [slow]);
    graph.addFree(memory.buffer, [graph.addCopy(out, y, undefined, [written])]);
    for (let index = 0; index < 4; index += 1) {
      const beside = graph.addAlloc(256, [cleared]);
      const z = Tensor.of(beside.buffer, [64], 'i32');
      const filled = graph.addFill(z, 0xee, undefined, [beside.node]);
      graph.addFree(beside.buffer, [filled]);
    }
    const exec = graph.instantiateSync();
    for (let launch = 0; launch < 3; launch += 1) {
      main.fill(out, 0);
      exec.launch(main);
      expect(new Set(await readInts(main, out))).toEqual(new Set([7]));
    }
    const captured = t.device.capture(
      () => {
        const z = zeros(t, main, 64);
        side.waitStream(main);
        spin(t, side, 20);
        accumulate(t, side, z, 1, 9);
        side.copy(other, z);
        z.dispose();
        for (let index = 0; index < 8; index += 1) main.fill(zeros(t, main, 64), 0xee);
        main.waitStream(side);
      },
      { stream: main },
    );
    captured.instantiateSync().launch(main).launch(main);
    expect(new Set(await readInts(main, other))).toEqual(new Set([9]));
  });

  test('#30: operands that replace others live as long as a launch can use them', async () => {
    const [a, b, out] = [zeros(t, main, 64), zeros(t, main, 64), zeros(t, main, 64)];
    main.fill(b, 1);
    await main.synchronize();
    const graph = t.device.createGraph();
    const slow = graph.addKernel(t.kernels.spin, single, { done: null, microseconds: 40_000 });
    const node = add(graph, a, 1, [slow]);
    const copy = graph.addCopy(out, a, undefined, [node]);
    const exec = graph.instantiateSync();
    exec.launch(main);
    const params = { y: b, count: 64, factor: 1, x: 5 };
    exec.setKernel(node, t.kernels.accumulate, one, params);
    exec.setCopy(copy, out, b);
    const event = main.record();
    a.dispose();
    for (let index = 0; index < 20; index += 1) side.fill(zeros(t, side, 64), 0xee);
    await event.done();
    expect(new Set(await readInts(main, out))).toEqual(new Set([1]));
    b.dispose();
    for (let index = 0; index < 20; index += 1) side.fill(zeros(t, side, 64), 0xee);
    await side.synchronize();
    exec.launch(main);
    expect(new Set(await readInts(main, out))).toEqual(new Set([0x01010101 + 5]));
  });

  test('#33: an allocation that leaves its graph is valid when the executable is gone', async () => {
    const graph = t.device.createGraph();
    const { node, buffer } = graph.addAlloc(256);
    const y = Tensor.of(buffer, [64], 'i32');
    graph.addFill(y, 3, undefined, [node]);
    const exec = graph.instantiateSync();
    exec.launch(main);
    exec.dispose();
    graph.dispose();
    await main.synchronize();
    for (let index = 0; index < 20; index += 1) main.fill(zeros(t, main, 64), 0xee);
    accumulate(t, main, y, 1, 1);
    expect(new Set(await readInts(main, y))).toEqual(new Set([0x03030304]));
    buffer.dispose();
    await main.synchronize();
  });

  test('#34: a retained object is kept by graph, executable and launch, and then no more', async () => {
    let isCollected = false;
    const registry = new FinalizationRegistry(() => {
      isCollected = true;
    });
    const make = () => {
      const graph = t.device.createGraph();
      const object = {};
      registry.register(object, 'object');
      graph.retain(object);
      graph.addKernel(t.kernels.spin, single, { done: null, microseconds: 1_500_000 });
      return graph.instantiateSync();
    };
    const launch = () => {
      const exec = make();
      exec.launch(main);
      exec.dispose();
    };
    launch();
    const end = main.record();
    for (let round = 0; round < 5; round += 1) globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([isCollected, end.isDone()]).toEqual([false, false]);
    await end.done();
    await collectUntil(() => isCollected);
    expect(isCollected).toBe(true);
  });

  test('#41: updates may be refused again and again; the executable goes on as it was', async () => {
    const y = zeros(t, main, 1);
    await main.synchronize();
    const graph = t.device.createGraph();
    add(graph, y, 1);
    const exec = graph.instantiateSync();
    const wrong = t.device.createGraph();
    add(wrong, y, 2, [add(wrong, y, 3)]);
    for (let round = 1; round <= 50; round += 1) {
      const report = exec.update(wrong);
      expect([report.ok, report.result]).toEqual([false, 2]);
      expect(report.detail).toContain('instantiate');
      exec.launch(main);
      expect(await readInts(main, y)).toEqual([round]);
    }
    const right = t.device.createGraph();
    add(right, y, 100);
    expect(exec.update(right).ok).toBe(true);
    exec.launch(main);
    expect(await readInts(main, y)).toEqual([150]);
  });
});

test('#10: the race checker names a branch that nothing orders before the free', async () => {
  const t = await openTestRuntime({ cpu: { raceCheck: true } });
  const graph = t.device.createGraph();
  const { node, buffer } = graph.addAlloc(64);
  const y = Tensor.of(buffer, [16], 'i32');
  const filled = graph.addFill(y, 0, undefined, [node]);
  graph.addKernel(t.kernels.accumulate, one, { y, count: 16, factor: 1, x: 1 }, [filled]);
  graph.addFree(buffer, [filled]);
  expect(() => graph.instantiateSync()).toThrow(/accumulate/);
  await t.runtime.dispose();
});
