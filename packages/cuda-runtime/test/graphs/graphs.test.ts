import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { BusyError, DisposedError, type Graph } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

const rows: readonly GraphRow[] = [
  {
    name: 'copies, fills, empty nodes and notifications do what they say',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [x, y] = [scene.ints(5, 6), scene.ints(0, 0)];
      let told = 0;
      const copy = graph.addCopy(y, x);
      const fill = graph.addFill(y.slice(0, 1, 2), 0x11, 2, [copy]);
      const both = graph.addEmpty([copy, fill]);
      graph.addNotify(() => {
        told += 1;
      }, [both]);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream).launch(scene.stream);
      expect(await scene.read(y)).toEqual([5, 0x1111]);
      await delay(1);
      expect([told, exec.launches]).toEqual([2, 2]);
    },
  },
  {
    name: 'CG03, CG04: graph and executable can go while a launch runs',
    async run(scene) {
      const graph = scene.device.createGraph();
      const y = scene.ints(1);
      scene.add(graph, y, 1, 4, scene.spin(graph, 30));
      const exec = graph.instantiateSync();
      graph.dispose();
      exec.launch(scene.stream);
      exec.dispose();
      expect(await scene.read(y)).toEqual([5]);
      expect(() => graph.nodes).toThrow(DisposedError);
    },
  },
  {
    name: 'CG05: launches of one executable follow one another, two executables run at once',
    async run(scene) {
      const other = scene.device.createStream({ name: 'other' });
      const [flags, met] = [scene.ints(0, 0), scene.ints(0, 0)];
      const sides = [0, 1].map((side) => {
        const graph = scene.device.createGraph();
        const params = { flags, met: met.slice(0, side, side + 1), side, timeout_ms: 5000 };
        graph.addKernel(scene.kernel('rendezvous'), scene.one, params);
        return graph.instantiateSync();
      });
      other.waitStream(scene.stream); // after the tensors' first values
      for (const [index, exec] of sides.entries()) exec.launch(index === 0 ? scene.stream : other);
      await other.synchronize();
      expect(await scene.read(met)).toEqual([1, 1]);
      const graph = scene.device.createGraph();
      const y = scene.ints(1);
      scene.add(graph, y, 2, 1, scene.spin(graph, 20));
      const exec = graph.instantiateSync();
      exec.launch(scene.stream).launch(other);
      await other.synchronize();
      expect(await scene.read(y)).toEqual([7]);
      other.dispose();
    },
  },
  {
    name: 'CG06: a graph runs on the legacy stream',
    async run(scene) {
      const graph = scene.device.createGraph();
      const y = scene.ints(1);
      await scene.stream.synchronize();
      scene.add(graph, y, 1, 1);
      graph.instantiateSync().launch(scene.device.legacyStream);
      await scene.device.legacyStream.synchronize();
      expect(await scene.read(y)).toEqual([2]);
    },
  },
  {
    name: 'CG11: a child is a copy, at its place among the other nodes',
    async run(scene) {
      const y = scene.ints(1);
      const child = scene.device.createGraph();
      const inner = scene.device.createGraph();
      scene.add(inner, y, 3, 0);
      child.addChild(inner, [scene.add(child, y, 1, 1)]);
      const graph = scene.device.createGraph();
      const node = graph.addChild(child, [scene.add(graph, y, 10, 0)]);
      scene.add(graph, y, 1, 7, node);
      scene.add(child, y, 0, 0);
      child.dispose();
      expect([graph.nodes.length, graph.nodes[1]?.child?.nodes.length]).toEqual([3, 2]);
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([40]);
    },
  },
  {
    name: 'CG12: a graph cannot be its own child',
    run(scene) {
      const graph = scene.device.createGraph();
      expect(answer(() => graph.addChild(graph))).toBe('CRT_ARGUMENT 1');
    },
  },
  {
    name: 'a clone has the nodes of its graph and changes alone',
    async run(scene) {
      const y = scene.ints(1);
      const graph = scene.device.createGraph();
      scene.add(graph, y, 2, 0);
      const clone = graph.clone();
      scene.add(clone, y, 1, 5, ...clone.nodes);
      expect([graph.nodes.length, clone.nodes.length, clone.origin]).toEqual([1, 2, 'explicit']);
      await scene.run(clone);
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([14]);
    },
  },
  {
    name: 'CG16: a retained object goes after graph, executable and launches',
    async run(scene) {
      let collected = false;
      const registry = new FinalizationRegistry(() => {
        collected = true;
      });
      const launch = (graph: Graph) => {
        const object = { big: 'thing' };
        registry.register(object, undefined);
        graph.retain(object);
        const exec = graph.instantiateSync();
        graph.dispose();
        exec.launch(scene.stream);
        exec.dispose();
      };
      const built = scene.device.createGraph();
      scene.spin(built, 150);
      launch(built);
      for (let round = 0; round < 3; round += 1) {
        globalThis.gc?.();
        await delay(1);
      }
      expect(collected).toBe(false);
      await scene.stream.synchronize();
    },
  },
  {
    name: 'a graph that is being instantiated is busy',
    async run(scene) {
      const graph = scene.device.createGraph();
      const y = scene.ints(1);
      const node = scene.add(graph, y, 2, 0);
      const made = graph.instantiate();
      for (const change of [() => graph.addEmpty(), () => graph.addDependency(node, node)]) {
        expect(change).toThrow(BusyError);
      }
      (await made).launch(scene.stream);
      scene.add(graph, y, 1, 1, node);
      expect(await scene.read(y)).toEqual([2]);
    },
  },
  {
    name: 'CG10: what is no graph, node, kernel or stream is refused',
    run(scene) {
      const graph = scene.device.createGraph();
      const exec = graph.instantiateSync();
      const wrong = null as never;
      const calls = [
        () => graph.addKernel(wrong, scene.one, {}),
        () => graph.addChild(wrong),
        () => graph.addEmpty([wrong]),
        () => graph.addFill(wrong, 0),
        () => graph.addHost(wrong),
        () => graph.addEventRecord(wrong),
        () => graph.addWhile(wrong),
        () => graph.retain(wrong),
        () => exec.launch(wrong),
        () => exec.update(wrong),
        () => exec.setEnabled(wrong, true),
      ];
      for (const call of calls) expect(answer(call)).toBe('CRT_ARGUMENT 0');
      expect(graph.nodes).toEqual([]);
    },
  },
];

describeEachBackend('explicit graphs', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
