import { describe, expect } from 'vitest';
import { BusyError, type Graph, type GraphNode } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { type GraphRow, GraphScene } from '../makers/graph-scene.js';
import { bodiesRun } from '../makers/kernels-overlap.js';

/** A graph with an if inside an if, and the bodies. */
function nested(scene: GraphScene) {
  const graph = scene.device.createGraph();
  const [outer, inner] = [graph.createCondition(1), graph.createCondition(1)];
  const branch = graph.addIf(outer);
  const { then } = branch.then.addIf(inner);
  return { graph, bodies: [branch.then, then] };
}

const bodiesOf = (node: GraphNode | undefined) => node?.bodies ?? [];

/** Nodes of the inner body, as the root's JSON has them. */
function innermost(graph: Graph): readonly GraphNode[] {
  const [outer] = bodiesOf(graph.toJSON().nodes[0]);
  const [inner] = bodiesOf(outer?.nodes[0]);
  return inner?.nodes ?? [];
}

const rows: readonly GraphRow[] = [
  {
    name: 'nothing changes a body, however deep, while its root is instantiated',
    async run(scene) {
      const { graph, bodies } = nested(scene);
      const x = scene.ints(1);
      for (const body of bodies) body.addFill(x, 1);
      const made = graph.instantiate();
      for (const body of [graph, ...bodies]) {
        const first = body.nodes[0];
        const changes = [
          () => body.addFill(x, 9),
          () => body.addEmpty(first ? [first] : []),
          () =>
            scene.device.capture((s) => s.fill(x, 9), {
              stream: scene.stream,
              into: { graph: body },
            }),
        ];
        for (const change of changes) expect(change).toThrow(BusyError);
      }
      const exec = await made;
      exec.launch(scene.stream);
      expect(await scene.read(x)).toEqual([0x01010101]);
      exec.dispose();
      for (const body of bodies) body.addEmpty();
      graph.dispose();
    },
  },
  {
    name: 'JSON and pictures of a root follow its bodies, however deep',
    run(scene) {
      const { graph, bodies } = nested(scene);
      const [outer, inner] = bodies;
      const x = scene.ints(1);
      expect(innermost(graph)).toHaveLength(0);
      inner?.addFill(x, 1);
      expect(innermost(graph)).toHaveLength(1);
      expect(bodiesOf(outer?.nodes[0])[0]?.nodes).toHaveLength(1);
      const dot = graph.toDot();
      if (inner)
        scene.device.capture((s) => s.fill(x, 2), { stream: scene.stream, into: { graph: inner } });
      expect(innermost(graph)).toHaveLength(2);
      expect(graph.toDot()).not.toBe(dot);
      expect(graph.toJSON()).toBe(graph.toJSON());
      graph.dispose();
    },
  },
  {
    name: 'JSON follows a capture into the graph while it records, and one that fails',
    run(scene) {
      const { graph, bodies } = nested(scene);
      const [, inner] = bodies;
      const x = scene.ints(1);
      if (!inner) throw new Error('no body');
      scene.stream.beginCapture({ into: { graph: inner } });
      for (const count of [1, 2]) {
        scene.stream.fill(x, count);
        expect(innermost(graph)).toHaveLength(count);
      }
      scene.stream.abortCapture();
      expect(innermost(graph)).toHaveLength(0);
      graph.dispose();
    },
  },
];

describe.skipIf(!bodiesRun)('where the device survives conditional bodies', () => {
  describeEachBackend('bodies of conditional nodes', rows, async (context, row) => {
    await row.run(await GraphScene.open(context));
  });
});
