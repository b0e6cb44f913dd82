import type { Graph, GraphNode, Tensor } from '../../../../src/index.js';
import { type SeededRandom, seededRandom } from '../../../../src/testing/index.js';
import { readInts, zeros } from '../../../makers/test-kernels.js';
import type { Scene } from '../../scene.js';

const kinds = ['kernel', 'fill', 'copy'] as const;

interface Link {
  readonly kind: (typeof kinds)[number];
  readonly to: number;
  /** Of a copy. */
  readonly from: number;
  /** Added by a kernel, filled. */
  readonly number: number;
  isOn: boolean;
}

const words = 8;

/** CG09 in chains: a node that is switched off does nothing, and all others run in their order. */
export async function switchedOffInChains(s: Scene, rounds = 60): Promise<void> {
  const kind = kinds.find((each) => s.is(`${each} in a chain`));
  const random = seededRandom(7);
  const y = zeros(s.test, s.s1, words);
  let wrong = 0;
  for (let round = 0; round < rounds; round += 1) {
    const expected = new Int32Array(await readInts(s.s1, y));
    play(s, random, kind, y, expected);
    const got = await readInts(s.s1, y);
    if (got.some((value, index) => value !== expected[index])) wrong += 1;
  }
  s.put('call', 0);
  s.put('results', wrong === 0 ? 'right' : `wrong in ${wrong} chains`);
}

// One random chain, launched again and again while nodes of `kind` go off and on.
function play(
  s: Scene,
  random: SeededRandom,
  kind: Link['kind'] | undefined,
  y: Tensor,
  values: Int32Array,
): void {
  const graph = s.test.device.createGraph();
  const chain = Array.from({ length: random.integer(2, 9) }, () => randomLink(random));
  const nodes: GraphNode[] = [];
  for (const link of chain) nodes.push(add(s, graph, link, y, nodes.slice(-1)));
  const executable = graph.instantiateSync();
  for (let launch = 0; launch < 12; launch += 1) {
    const index = random.integer(0, chain.length);
    const [link, node] = [chain[index], nodes[index]];
    if (link && node && link.kind === kind) {
      link.isOn = !link.isOn;
      executable.setEnabled(node, link.isOn);
    }
    executable.launch(s.s1);
    for (const each of chain) if (each.isOn) apply(each, values);
  }
  executable.dispose();
  graph.dispose();
}

function randomLink(random: SeededRandom): Link {
  const to = random.integer(0, words);
  const from = (to + random.integer(1, words)) % words;
  const kind = kinds[random.integer(0, kinds.length)] ?? 'kernel';
  return { kind, to, from, number: random.integer(0, 256), isOn: true };
}

function add(
  s: Scene,
  graph: Graph,
  link: Link,
  y: Tensor,
  after: readonly GraphNode[],
): GraphNode {
  const word = (index: number) => y.slice(0, index, index + 1);
  const to = word(link.to);
  if (link.kind === 'fill') return graph.addFill(to, link.number, undefined, after);
  if (link.kind === 'copy') return graph.addCopy(to, word(link.from), undefined, after);
  const params = { y: to, count: 1, factor: 3, x: link.number };
  return graph.addKernel(s.test.kernels.accumulate, { grid: [1], block: [1] }, params, after);
}

function apply(link: Link, values: Int32Array): void {
  const before = values[link.to] ?? 0;
  if (link.kind === 'fill') values[link.to] = Math.imul(link.number, 0x01010101);
  else if (link.kind === 'copy') values[link.to] = values[link.from] ?? 0;
  else values[link.to] = Math.imul(before, 3) + link.number;
}
