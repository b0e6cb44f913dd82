import { expect } from 'vitest';
import type { Graph, GraphNode, Tensor } from '../../src/index.js';
import { describeEachBackend } from '../../src/testing/index.js';
import { GraphScene } from '../makers/graph-scene.js';
import { kernelsOverlap } from '../makers/kernels-overlap.js';

const microseconds = 20_000;

/**
 * A kernel that triggers at once and ends late, and one behind it that notes whether it started
 * early.
 */
interface Pair {
  readonly kind: 'full' | 'programmatic';
  readonly x: Tensor;
  readonly y: Tensor;
  readonly early: Tensor;
}

const parameters = ({ x, y, early }: Pair) => ({
  first: { x, y: x, started_early: null, value: 7, microseconds },
  second: { x, y, started_early: early, value: 7, microseconds: 0 },
});

/**
 * What follows by a full edge is a kernel that does not wait itself: only its edge holds it back.
 */
const follower = ({ kind }: Pair) => (kind === 'full' ? 'pdl_no_wait' : 'pdl_second');

const ways: readonly { name: string; build(scene: GraphScene, pairs: readonly Pair[]): Graph }[] = [
  {
    name: 'explicit',
    build(scene, pairs) {
      const graph = scene.device.createGraph();
      let last: GraphNode | undefined;
      for (const pair of pairs) {
        const { first, second } = parameters(pair);
        const before = graph.addKernel(scene.kernel('pdl_first'), scene.one, first);
        const after = graph.addKernel(scene.kernel(follower(pair)), scene.one, second);
        if (last) graph.addDependency(last, before);
        graph.addDependency(before, after, { type: pair.kind });
        last = after;
      }
      return graph;
    },
  },
  {
    name: 'captured',
    build(scene, pairs) {
      const { device, stream } = scene;
      return device.capture(
        () => {
          for (const pair of pairs) {
            const { first, second } = parameters(pair);
            const serialize = pair.kind === 'programmatic';
            const config = { ...scene.one, ...(serialize && { programmatic: { serialize } }) };
            stream.launch(scene.kernel('pdl_first'), scene.one, first);
            stream.launch(scene.kernel(follower(pair)), config, second);
          }
        },
        { stream },
      );
    },
  },
];

const cases = ways.flatMap((way) =>
  (['full', 'programmatic'] as const).map((first) => ({
    ...way,
    first,
    name: `${way.name}: each edge keeps its kind beside others, a ${first} one first`,
  })),
);

describeEachBackend(
  'edges of several kinds in one graph',
  cases,
  async (context, { build, first }) => {
    const scene = await GraphScene.open(context);
    const kinds =
      first === 'full' ? (['full', 'programmatic'] as const) : (['programmatic', 'full'] as const);
    const pairs = [...kinds, ...kinds].map(
      (kind): Pair => ({ kind, x: scene.ints(0), y: scene.ints(0), early: scene.ints(0) }),
    );
    await scene.run(build(scene, pairs));
    for (const { kind, y, early } of pairs) {
      expect(await scene.read(y), `behind a ${kind} edge`).toEqual([7]);
      const startedEarly = kind === 'programmatic' ? 1 : 0;
      if (kernelsOverlap) expect(await scene.read(early), kind).toEqual([startedEarly]);
    }
  },
);
