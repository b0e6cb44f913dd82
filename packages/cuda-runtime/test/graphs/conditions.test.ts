import { describe, expect } from 'vitest';
import type { Condition, Graph, GraphNode, Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';
import { bodiesRun } from '../makers/kernels-overlap.js';

/** A node that sets the condition to one less than the counter held. */
function set(
  scene: GraphScene,
  graph: Graph,
  condition: Condition,
  counter: Tensor,
  ...after: GraphNode[]
): GraphNode {
  return graph.addKernel(scene.kernel('condition'), scene.one, { counter, condition }, after);
}

const rows: readonly GraphRow[] = [
  {
    name: 'an if with an else takes the side that the value says when it is read',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition();
      const [counter, y] = [scene.ints(3), scene.ints(0)];
      const branch = graph.addIf(condition, [set(scene, graph, condition, counter)], {
        else: true,
      });
      scene.add(branch.then, y, 10, 1);
      if (!branch.else) throw new Error('no else');
      scene.add(branch.else, y, 10, 2);
      const exec = await graph.instantiate();
      for (let launch = 0; launch < 4; launch += 1) exec.launch(scene.stream);
      expect([await scene.read(y), await scene.read(counter)]).toEqual([[1122], [-1]]);
    },
  },
  {
    name: 'a while runs its body until the body sets 0; every launch starts with the initial value',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition(1);
      const [counter, y, z] = [scene.ints(5), scene.ints(0), scene.ints(0)];
      const { node, body } = graph.addWhile(condition, [graph.addEmpty()]);
      scene.add(body, y, 1, 1, set(scene, body, condition, counter));
      graph.addCopy(z, y, 4, [node]);
      const exec = graph.instantiateSync();
      exec.launch(scene.stream).launch(scene.stream);
      expect([await scene.read(y), await scene.read(z)]).toEqual([[6], [6]]);
    },
  },
  {
    name: 'a switch runs the case of the value, none beyond the last',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition();
      const [counter, y] = [scene.ints(5), scene.ints(0)];
      const first = set(scene, graph, condition, counter);
      const { cases } = graph.addSwitch(condition, 3, [first]);
      for (const [index, body] of cases.entries()) scene.add(body, y, 10, index + 1);
      const exec = graph.instantiateSync();
      for (let launch = 0; launch < 5; launch += 1) exec.launch(scene.stream);
      expect(await scene.read(y)).toEqual([321]);
    },
  },
  {
    name: 'bodies nest, and may hold child graphs',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [outer, inner] = [graph.createCondition(1), graph.createCondition()];
      const [outerCounter, innerCounter, y] = [scene.ints(3), scene.ints(2), scene.ints(0)];
      const { body } = graph.addWhile(outer);
      const setInner = set(scene, body, inner, innerCounter);
      const { node, then } = body.addIf(inner, [setInner]);
      const child = scene.device.createGraph();
      scene.add(child, y, 1, 100);
      then.addChild(child);
      scene.add(body, y, 1, 1, set(scene, body, outer, outerCounter, node));
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([103]);
    },
  },
  {
    name: 'executables of one graph have a value each',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition(1);
      const [counter, y] = [scene.ints(3), scene.ints(0)];
      const { body } = graph.addWhile(condition);
      scene.add(body, y, 1, 1, set(scene, body, condition, counter));
      const [a, b] = [graph.instantiateSync(), graph.instantiateSync()];
      a.launch(scene.stream);
      b.launch(scene.stream);
      expect(await scene.read(y)).toEqual([4]);
    },
  },
  {
    name: 'CG13: a host node in a body, and a condition without a node, cannot be instantiated',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition();
      expect(answer(() => graph.instantiateSync())).toBe('CRT_GRAPH_INVALID 1');
      const { then } = graph.addIf(condition);
      expect(answer(() => graph.instantiateSync())).toBe('ok');
      then.addHost(scene.callback(await scene.calls()));
      expect(() => graph.instantiateSync()).toThrow(/contains a node of kind host/);
      await expect(graph.instantiate()).rejects.toMatchObject({ code: 'CRT_GRAPH_INVALID' });
    },
  },
  {
    name: 'CG14: a graph with conditions cannot be cloned or be a child; bodies cannot run alone',
    run(scene) {
      const graph = scene.device.createGraph();
      const { then } = graph.addIf(graph.createCondition());
      expect(answer(() => graph.clone())).toBe('CRT_GRAPH_NOT_CLONEABLE 801');
      const other = scene.device.createGraph();
      expect(answer(() => other.addChild(graph))).toBe('CRT_GRAPH_NOT_CLONEABLE 801');
      expect(answer(() => then.instantiateSync())).toBe('CRT_ARGUMENT 1');
      expect(answer(() => then.createCondition())).toBe('CRT_ARGUMENT 1');
      expect([then.origin, graph.origin]).toEqual(['body', 'explicit']);
    },
  },
  {
    name: 'a condition has one node and belongs to its graph',
    run(scene) {
      const [graph, other] = [scene.device.createGraph(), scene.device.createGraph()];
      const [condition, counter] = [graph.createCondition(), scene.ints(1)];
      graph.addIf(condition);
      expect(answer(() => graph.addIf(condition))).toBe('CRT_ARGUMENT 1');
      expect(answer(() => other.addIf(condition))).toBe('CRT_ARGUMENT 1');
      expect(answer(() => set(scene, other, condition, counter))).toBe('CRT_ARGUMENT 1');
      const launch = () =>
        scene.stream.launch(scene.kernel('condition'), scene.one, { counter, condition });
      expect(answer(launch)).toBe('CRT_ARGUMENT 1');
      expect(answer(() => graph.addSwitch(graph.createCondition(), 0))).toBe('CRT_ARGUMENT 0');
    },
  },
  {
    name: 'child graphs and bodies nest 128 deep, since deeper ones would exhaust the stack',
    run(scene) {
      const graph = scene.device.createGraph();
      let body = graph;
      let outer = scene.device.createGraph();
      for (let level = 0; level < 128; level += 1) {
        const inner = outer;
        body = body.addIf(graph.createCondition(1)).then;
        outer = scene.device.createGraph();
        outer.addChild(inner);
      }
      for (const drawn of [graph, outer]) expect(drawn.toDot().length).toBeGreaterThan(1000);
      expect(() => body.addIf(graph.createCondition())).toThrow(/bodies .* nested 128 deep/);
      expect(() => graph.addChild(outer)).toThrow(/child graphs are nested 128 deep/);
      expect(() => graph.addChild(outer.clone())).toThrow(/child graphs are nested 128 deep/);
    },
  },
  {
    name: 'CG15: a capture into a body gives the body, and runs when the condition is not 0',
    async run(scene) {
      const graph = scene.device.createGraph();
      const condition = graph.createCondition();
      const [counter, y] = [scene.ints(3), scene.ints(0)];
      const { then } = graph.addIf(condition, [set(scene, graph, condition, counter)]);
      const { stream } = scene;
      stream.beginCapture({ into: { graph: then } });
      const params = scene.accumulate(y, 1, 5);
      stream.launch(scene.kernel('accumulate'), { grid: [1], block: [256] }, params);
      expect(stream.endCapture()).toBe(then);
      const exec = graph.instantiateSync();
      for (let launch = 0; launch < 4; launch += 1) exec.launch(stream);
      expect(await scene.read(y)).toEqual([10]);
    },
  },
];

describe.skipIf(!bodiesRun)('where the device survives conditional bodies', () => {
  describeEachBackend('conditional nodes', rows, async (context, row) =>
    row.run(await GraphScene.open(context)),
  );
});
