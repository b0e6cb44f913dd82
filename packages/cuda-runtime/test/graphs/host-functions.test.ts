import { expect } from 'vitest';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

const rows: readonly GraphRow[] = [
  {
    name: 'a host function holds its stream: what follows sees what it did',
    async run(scene) {
      const calls = await scene.calls();
      const copy = scene.ints(0, 0);
      scene.stream.host(scene.callback(calls, 20, 3));
      scene.stream.copy(copy, calls);
      expect(await scene.read(copy)).toEqual([3, 1]);
    },
  },
  {
    name: 'CU24: captured it is a node, and runs at each replay',
    async run(scene) {
      const calls = await scene.calls();
      const record = () => {
        scene.stream.host(scene.callback(calls));
      };
      const graph = scene.device.capture(record, { stream: scene.stream });
      expect(graph.nodes.map(({ kind, label }) => [kind, label])).toEqual([
        ['host', 'test_host_count'],
      ]);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream).launch(scene.stream);
      await scene.stream.synchronize();
      expect(new Int32Array(calls.buffer)[0]).toBe(2);
    },
  },
  {
    name: 'CH02: host functions of three streams and of two branches run one after another',
    async run(scene) {
      const calls = await scene.calls();
      const streams = [1, 2, 3].map(() => scene.device.createStream());
      const start = performance.now();
      for (const stream of streams) stream.host(scene.callback(calls, 20));
      const graph = scene.device.createGraph();
      for (const branch of [1, 2]) graph.addHost(scene.callback(calls, 20, branch));
      graph.instantiateSync().launch(scene.stream);
      await scene.device.synchronize();
      expect(performance.now() - start).toBeGreaterThan(95);
      expect([...new Int32Array(calls.buffer)]).toEqual([6, 1]);
      for (const stream of streams) stream.dispose();
    },
  },
  {
    name: 'kernels go on while a host function runs',
    async run(scene) {
      const calls = await scene.calls();
      const other = scene.device.createStream();
      scene.stream.host(scene.callback(calls, 100));
      await scene.stream.synchronize({ timeoutMs: 5000 });
      scene.stream.host(scene.callback(calls, 100));
      other.launch(scene.kernel('empty'), scene.one, { tag: 0 });
      await other.synchronize();
      expect(scene.stream.isIdle()).toBe(false);
      await scene.stream.synchronize();
      other.dispose();
    },
  },
  {
    name: 'arguments are checked by name, and unknown functions are refused',
    async run(scene) {
      const calls = await scene.calls();
      const make = (params: object, name = 'test_host_count') =>
        answer(() => scene.module.callback(name, params as never));
      const good = { calls, microseconds: 1n, step: 1 };
      expect(make(good)).toBe('ok');
      expect(make(good, 'test_nothing')).toBe('CRT_NO_SYMBOL 0');
      expect(make(good, 'test_empty')).toBe('CRT_NO_SYMBOL 0');
      expect(make({ ...good, extra: 1 })).toBe('CRT_ARGUMENT 0');
      expect(make({ ...good, calls: scene.ints(1) })).toBe('CRT_ARGUMENT 0');
      expect(make({ ...good, step: 'x' })).toBe('CRT_ARGUMENT 0');
      expect(answer(() => scene.stream.host({ name: 'x' } as never))).toBe('CRT_ARGUMENT 0');
      expect(() => scene.module.kernel('test_host_count')).toThrow(/no kernel/);
    },
  },
  {
    name: 'the memory of a host function lives while it runs',
    async run(scene) {
      const calls = await scene.calls();
      const copy = scene.ints(0, 0);
      scene.stream.host(scene.callback(calls, 30));
      scene.stream.copy(copy, calls);
      calls.dispose();
      expect(await scene.read(copy)).toEqual([1, 1]);
    },
  },
];

describeEachBackend('host functions', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
