import { expect } from 'vitest';
import { describeEachBackend } from '../../src/testing/index.js';
import { answer, type GraphRow, GraphScene } from '../makers/graph-scene.js';
import { kernelsOverlap } from '../makers/kernels-overlap.js';

const rows: readonly GraphRow[] = [
  {
    name: 'nodes run in the order of edges that lead backwards',
    async run(scene) {
      const graph = scene.device.createGraph();
      const y = scene.ints(1, 2);
      const last = scene.add(graph, y, 10, 0);
      const first = scene.add(graph, y, 1, 5);
      graph.addDependency(first, last);
      expect(graph.edges).toEqual([{ from: 1, to: 0, type: 'full', port: 'completion' }]);
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([60, 70]);
    },
  },
  {
    name: 'CG01: an edge that closes a cycle is refused, and the graph runs without it',
    async run(scene) {
      const graph = scene.device.createGraph();
      const y = scene.ints(1);
      const a = scene.add(graph, y, 2, 0);
      const b = scene.add(graph, y, 1, 1, a);
      const c = scene.add(graph, y, 3, 0, b);
      expect(() => graph.addDependency(c, a)).toThrow(/close a cycle/);
      expect(answer(() => graph.addDependency(b, a))).toBe('CRT_ARGUMENT 1');
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([9]);
    },
  },
  {
    name: 'CG02: a second edge, an edge to itself, to a foreign node, a node named twice answer 1',
    run(scene) {
      const graph = scene.device.createGraph();
      const [a, b] = [scene.empty(graph), scene.empty(graph)];
      const foreign = scene.empty(scene.device.createGraph());
      graph.addDependency(a, b);
      for (const bad of [
        () => graph.addDependency(a, b),
        () => graph.addDependency(a, a),
        () => graph.addDependency(a, foreign),
        () => graph.addDependency(foreign, b),
        () => graph.addEmpty([a, a]),
        () => graph.addEmpty([foreign]),
      ]) {
        expect(answer(bad)).toBe('CRT_ARGUMENT 1');
      }
      expect([graph.nodes.length, graph.edges.length]).toEqual([2, 1]);
    },
  },
  {
    name: 'CP08, CP05: which ports, types and kinds of node go together',
    run(scene) {
      const graph = scene.device.createGraph();
      const [y, z] = [scene.ints(0), scene.ints(0)];
      const params = { x: y, y: z, started_early: null, value: 1, microseconds: 0 };
      const add = (name: string) => graph.addKernel(scene.kernel(name), scene.one, params);
      const [first, second] = [add('pdl_first'), add('pdl_second')];
      const fill = graph.addFill(z, 0);
      const programmatic = { type: 'programmatic' } as const;
      const link = (from: typeof first, to: typeof first, options: object) =>
        answer(() => graph.addDependency(from, to, options));
      expect(link(first, second, { ...programmatic, port: 'completion' })).toBe('CRT_ARGUMENT 1');
      expect(link(first, fill, programmatic)).toBe('CRT_ARGUMENT 1');
      expect(link(fill, second, programmatic)).toBe('CRT_ARGUMENT 1');
      expect(link(fill, second, { port: 'launch' })).toBe('CRT_ARGUMENT 1');
      expect(link(first, second, programmatic)).toBe('ok');
      expect(link(first, second, {})).toBe('CRT_ARGUMENT 1');
      expect(graph.edges).toMatchObject([{ type: 'programmatic', port: 'programmatic' }]);
      expect(graph.clone().edges, 'CP10').toEqual(graph.edges);
    },
  },
  {
    name: 'a programmatic edge lets the second kernel start before the first has ended',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [x, y, early] = [scene.ints(0), scene.ints(0), scene.ints(0)];
      const first = graph.addKernel(scene.kernel('pdl_first'), scene.one, {
        x,
        y: x,
        started_early: null,
        value: 7,
        microseconds: 30_000,
      });
      const second = graph.addKernel(scene.kernel('pdl_second'), scene.one, {
        x,
        y,
        started_early: early,
        value: 7,
        microseconds: 0,
      });
      graph.addDependency(first, second, { type: 'programmatic' });
      await scene.run(graph);
      expect(await scene.read(y)).toEqual([7]);
      if (kernelsOverlap) expect(await scene.read(early)).toEqual([1]);
    },
  },
  {
    name: 'CP06: a launch port lets the second kernel start when the first has started',
    async run(scene) {
      const graph = scene.device.createGraph();
      const [flags, met] = [scene.ints(0, 0), scene.ints(0, 0)];
      const side = (index: number) => ({ flags, met: met.slice(0, index, index + 1), side: index });
      const meet = (index: number) =>
        graph.addKernel(scene.kernel('rendezvous'), scene.one, {
          ...side(index),
          timeout_ms: 5000,
        });
      graph.addDependency(meet(0), meet(1), { port: 'launch' });
      expect(graph.edges).toMatchObject([{ type: 'full', port: 'launch' }]);
      await scene.run(graph);
      expect(await scene.read(met)).toEqual([1, 1]);
    },
  },
];

describeEachBackend('edges of explicit graphs', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
