import type {
  Graph,
  GraphExec,
  GraphNode,
  KernelParams,
  NativeCallback,
  Tensor,
} from '../../../src/index.js';
import type { Scene } from '../scene.js';

const one = { grid: [1], block: [1] } as const;

/** A kernel node that does nothing. */
export function addEmptyKernel(
  s: Scene,
  graph: Graph,
  after: readonly GraphNode[] = [],
  blocks = 1,
): GraphNode {
  const config = { grid: [blocks], block: [1] } as const;
  return graph.addKernel(s.test.kernels.empty, config, { tag: 0 }, after);
}

/** Parameters of a kernel that adds `x` to every element. */
export function sumParams(y: Tensor, x: number): KernelParams {
  return { y, count: y.elements, factor: 1, x };
}

/** A kernel node that adds `x` to every element. */
export function addSum(
  s: Scene,
  graph: Graph,
  y: Tensor,
  x: number,
  after: readonly GraphNode[] = [],
): GraphNode {
  return graph.addKernel(s.test.kernels.accumulate, one, sumParams(y, x), after);
}

/** A kernel node that runs for a while. */
export function addSpin(s: Scene, graph: Graph, milliseconds: number): GraphNode {
  const params = { done: null, microseconds: milliseconds * 1000 };
  return graph.addKernel(s.test.kernels.spin, one, params);
}

/** A host function that takes a while; `step` is what it adds to a counter that nobody reads. */
export function hostFunction(s: Scene, milliseconds = 0, step = 1): NativeCallback {
  const calls = s.test.device.allocHostSync(8);
  const params = { calls, microseconds: milliseconds * 1000, step };
  return s.test.module.callback('test_host_count', params);
}

/** Launches on S1 and waits. */
export async function run(s: Scene, executable: GraphExec): Promise<void> {
  executable.launch(s.s1);
  await s.s1.synchronize();
}
