import type { Graph, GraphNode, Tensor } from '../../../../src/index.js';
import { kernelsOverlap } from '../../../makers/kernels-overlap.js';
import { readInts, zeros } from '../../../makers/test-kernels.js';
import { edgesOf, NotPlayable, type Scene } from '../../scene.js';
import { run } from '../graph-parts.js';

const one = { grid: [1], block: [1] } as const;
const value = 7;
const microseconds = 20_000;

/**
 * Two kernels, and what the second has read, and whether it started before the first had written.
 */
interface Pair {
  readonly type: 'full' | 'programmatic';
  readonly from: GraphNode;
  readonly to: GraphNode;
  readonly read: Tensor;
  readonly early: Tensor;
}

/**
 * CG17: four pairs of kernels one behind the other, the edge of each of another kind than the last
 * one's. The first of a pair lets go of the second at once and writes late, so the second finds
 * which kind its edge really is.
 */
export async function mixedEdges(s: Scene): Promise<void> {
  if (!kernelsOverlap) throw new NotPlayable('kernels run one after another here');
  const [first, second] = s.is('a full one first')
    ? (['full', 'programmatic'] as const)
    : (['programmatic', 'full'] as const);
  const graph = s.test.device.createGraph();
  const pairs = [first, second, first, second].map((type) => addPair(s, graph, type));
  s.put(
    'call',
    s.number(() => {
      for (const [at, { from, to, type }] of pairs.entries()) {
        graph.addDependency(from, to, { type });
        const next = pairs[at + 1];
        if (next) graph.addDependency(to, next.from);
      }
    }),
  );
  s.put('edges', edgesOf(graph));
  await run(s, graph.instantiateSync());
  const values = (kind: 'read' | 'early') =>
    Promise.all(pairs.map(async (pair) => (await readInts(s.s1, pair[kind]))[0]));
  s.put('read', (await values('read')).join(', '));
  s.put('started early', (await values('early')).map((is) => (is ? 'yes' : 'no')).join(', '));
}

// Behind a full edge is a kernel that does not wait itself: only its edge holds it back.
function addPair(s: Scene, graph: Graph, type: Pair['type']): Pair {
  const { pdl_first: first, pdl_second: waits, pdl_no_wait: waitsNot } = s.test.kernels;
  const [x, y, read, early] = [0, 1, 2, 3].map(() => zeros(s.test, s.s1, 1)) as [
    Tensor,
    Tensor,
    Tensor,
    Tensor,
  ];
  const firstParams = { x: y, y: x, started_early: null, value, microseconds };
  const params = { x, y: read, started_early: early, value, microseconds: 0 };
  const from = graph.addKernel(first, one, firstParams);
  const to = graph.addKernel(type === 'full' ? waitsNot : waits, one, params);
  return { type, from, to, read, early };
}
