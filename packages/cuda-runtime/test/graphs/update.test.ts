import { expect } from 'vitest';
import type { Graph, GraphExec, Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';

/** An executable of the first graph, brought up to date with the second. */
function update(scene: GraphScene, build: (graph: Graph, second: boolean) => void) {
  const graphs = [false, true].map((second) => {
    const graph = scene.device.createGraph();
    build(graph, second);
    return graph;
  });
  const [before, after] = graphs as [Graph, Graph];
  const exec = before.instantiateSync();
  const { ok, code, result, node, fromNode, detail } = exec.update(after);
  expect(code).toBe(ok ? undefined : 'CRT_GRAPH_UPDATE');
  return { exec, detail, report: [ok, result, node?.id, fromNode?.id] };
}

/** CV11: the executable still does what it did. */
async function expectOld(scene: GraphScene, exec: GraphExec, y: Tensor): Promise<void> {
  const before = (await scene.read(y))[0] ?? 0;
  exec.launch(scene.stream);
  expect(await scene.read(y)).toEqual([before + 1]);
}

const rows: readonly GraphRow[] = [
  {
    name: 'CV01–CV03: arguments, kernel function, fill value and length',
    async run(scene) {
      const [y, z] = [scene.ints(1, 1), scene.ints(0, 0)];
      const { exec, report } = update(scene, (graph, second) => {
        const fill = graph.addFill(z, second ? 1 : 2, second ? 4 : 8);
        if (second) {
          const params = { y, count: 2, value: 9 };
          graph.addKernel(scene.kernel('fill'), { grid: [2], block: [32] }, params, [fill]);
        } else {
          scene.add(graph, y, 1, 1, fill);
        }
      });
      expect(report).toEqual([true, 0, undefined, undefined]);
      exec.launch(scene.stream);
      expect([await scene.read(y), await scene.read(z)]).toEqual([
        [9, 9],
        [0x01010101, 0],
      ]);
    },
  },
  {
    name: 'CV05, CV11: fewer nodes are another topology',
    async run(scene) {
      const y = scene.ints(1);
      const { exec, report } = update(scene, (graph, second) => {
        const node = scene.add(graph, y, 1, 1);
        if (!second) graph.addEmpty([node]);
      });
      expect(report).toEqual([false, 2, undefined, undefined]);
      await expectOld(scene, exec, y);
    },
  },
  {
    name: 'CV06, CV07, CV11: another kind at a place names the node',
    async run(scene) {
      const [y, z] = [scene.ints(1), scene.ints(0)];
      const { exec, report, detail } = update(scene, (graph, second) => {
        if (second) graph.addFill(z, 0);
        scene.add(graph, y, 1, 1);
        if (!second) graph.addFill(z, 0);
      });
      expect(report).toEqual([false, 3, 0, undefined]);
      expect(detail).toMatch(/node 0 \(fill\) is of kind fill, was kernel/);
      await expectOld(scene, exec, y);
    },
  },
  {
    name: 'CV08, CV11: a copy in another direction is refused with its node',
    async run(scene) {
      const y = scene.ints(1);
      const host = await scene.device.allocHost(4);
      const { exec, report } = update(scene, (graph, second) => {
        const z = scene.ints(0);
        const copy = second ? graph.addCopy(host, z) : graph.addCopy(z, host);
        scene.add(graph, y, 1, 1, copy);
      });
      expect(report).toEqual([false, 5, 0, undefined]);
      await expectOld(scene, exec, y);
    },
  },
  {
    name: 'CV09, CV11: other dependencies are another topology, with both ends',
    async run(scene) {
      const y = scene.ints(1);
      const { exec, report } = update(scene, (graph, second) => {
        const [a, b] = [graph.addEmpty(), graph.addEmpty()];
        scene.add(graph, y, 1, 1, second ? a : b);
      });
      expect(report).toEqual([false, 2, 2, 0]);
      await expectOld(scene, exec, y);
    },
  },
  {
    name: 'CV10, CV11: a programmatic edge that became a full one is another topology',
    run(scene) {
      const [x, y] = [scene.ints(0), scene.ints(0)];
      const params = { x, y, started_early: null, value: 0, microseconds: 0 };
      const { report } = update(scene, (graph, second) => {
        const add = (name: string) => graph.addKernel(scene.kernel(name), scene.one, params);
        const type = second ? 'full' : 'programmatic';
        graph.addDependency(add('pdl_first'), add('pdl_second'), { type });
      });
      expect(report).toEqual([false, 2, 1, 0]);
    },
  },
  {
    name: 'a difference inside a child names the node of the child',
    run(scene) {
      const [y, z] = [scene.ints(0), scene.ints(0)];
      const { report } = update(scene, (graph, second) => {
        const child = scene.device.createGraph();
        if (second) child.addFill(z, 0);
        else scene.add(child, y, 1, 1);
        graph.addChild(child, [graph.addEmpty()]);
      });
      expect(report).toEqual([false, 3, 1, undefined]);
    },
  },
  {
    name: 'CG07, #30: a launch that runs keeps its parameters and their memory, the next has the new',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [old, fresh, copy] = [scene.ints(1), scene.ints(1), scene.ints(0)];
      const node = scene.add(graph, old, 1, 1, scene.spin(graph, 60));
      graph.addCopy(copy, old, 4, [node]);
      const exec = graph.instantiateSync();
      graph.dispose();
      exec.launch(scene.stream);
      scene.set(exec, node, fresh, 10, 0);
      old.dispose();
      expect(await scene.read(copy)).toEqual([2]);
      expect(await scene.read(fresh)).toEqual([1]);
      exec.launch(scene.stream);
      expect(await scene.read(fresh)).toEqual([10]);
    },
  },
  {
    name: 'CG08: a node of another graph, and work of another kind, answer 1',
    run(scene) {
      const [graph, other] = [scene.device.createGraph(), scene.device.createGraph()];
      const y = scene.ints(1);
      const [node, foreign] = [graph.addFill(y, 0), scene.add(other, y, 1, 1)];
      const exec = graph.instantiateSync();
      expect(answer(() => scene.set(exec, foreign, y, 1, 1))).toBe('CRT_ARGUMENT 1');
      expect(answer(() => scene.set(exec, node, y, 1, 1))).toBe('CRT_ARGUMENT 1');
      expect(answer(() => exec.setFill(node, y, 300))).toBe('CRT_ARGUMENT 0');
      expect(answer(() => exec.setFill(node, y, 3, 2))).toBe('ok');
    },
  },
  {
    name: 'CG09: kernels, copies and fills can be switched off and on, host and empty nodes not',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [y, z, host] = [scene.ints(1), scene.ints(7), await scene.calls()];
      const kernel = scene.add(graph, y, 1, 1);
      const copy = graph.addCopy(y, z, 4, [kernel]);
      const callback = graph.addHost(scene.callback(host), [copy]);
      const exec = graph.instantiateSync();
      for (const node of [kernel, copy]) exec.setEnabled(node, false);
      expect(answer(() => exec.setEnabled(callback, false))).toBe('CRT_ARGUMENT 1');
      exec.launch(scene.stream);
      expect(await scene.read(y)).toEqual([1]);
      exec.setEnabled(kernel, true);
      exec.launch(scene.stream);
      expect(await scene.read(y)).toEqual([2]);
      expect(new Int32Array(host.buffer)).toEqual(Int32Array.of(2, 1));
    },
  },
];

describeEachBackend('updates of executables', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
