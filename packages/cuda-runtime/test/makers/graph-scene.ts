import { fileURLToPath } from 'node:url';
import {
  CudaRuntimeError,
  type Device,
  type Graph,
  type GraphExec,
  type GraphNode,
  type HostBuffer,
  type Kernel,
  type KernelParams,
  type Module,
  type NativeCallback,
  type Runtime,
  type Stream,
  Tensor,
} from '../../src/index.js';
import type { BackendContext } from '../../src/testing/index.js';

const manifest = fileURLToPath(
  new URL('../../build/Release/test_kernels/manifest.json', import.meta.url),
);
const one = { grid: [1], block: [1] } as const;
const wide = { grid: [1], block: [256] } as const;

/** A row of the tables of the specification (3.3, 7), as `describeEachBackend` takes it. */
export interface GraphRow {
  readonly name: string;
  run(scene: GraphScene): Promise<void> | void;
}

/** Short names for what tests of explicit graphs do. */
export class GraphScene {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly stream: Stream;
  readonly module: Module;
  readonly one = one;

  private constructor(context: BackendContext, module: Module) {
    this.runtime = context.runtime;
    this.device = context.device;
    this.stream = context.stream;
    this.module = module;
  }

  static async open(context: BackendContext): Promise<GraphScene> {
    return new GraphScene(context, await context.runtime.loadModule({ manifest }));
  }

  kernel(name: string): Kernel {
    return this.module.kernel(`test_${name}`);
  }

  /** An i32 tensor with these values. */
  ints(...values: number[]): Tensor {
    const tensor = Tensor.allocate(this.device, [values.length], 'i32', { stream: this.stream });
    this.stream.write(tensor, Int32Array.from(values));
    return tensor;
  }

  async read(tensor: Tensor): Promise<readonly number[]> {
    const values = new Int32Array(tensor.elements);
    await this.stream.read(tensor, values);
    return [...values];
  }

  /** Parameters of y = y · factor + x. */
  accumulate(y: Tensor, factor: number, x: number): KernelParams {
    return { y, count: y.elements, factor, x };
  }

  /** Zeroed memory for `callback`: calls so far, the most that ran at once. */
  async calls(): Promise<HostBuffer> {
    const host = await this.device.allocHost(8);
    new Int32Array(host.buffer).fill(0);
    return host;
  }

  /** A host function that counts in `calls` and takes a while. */
  callback(calls: HostBuffer, milliseconds = 0, step = 1): NativeCallback {
    const params = { calls, microseconds: milliseconds * 1000, step };
    return this.module.callback('test_host_count', params);
  }

  /** A node that does y = y · factor + x. */
  add(graph: Graph, y: Tensor, factor: number, x: number, ...after: GraphNode[]): GraphNode {
    const params = this.accumulate(y, factor, x);
    return graph.addKernel(this.kernel('accumulate'), wide, params, after);
  }

  /** Replaces it in an executable. */
  set(exec: GraphExec, node: GraphNode, y: Tensor, factor: number, x: number): void {
    exec.setKernel(node, this.kernel('accumulate'), wide, this.accumulate(y, factor, x));
  }

  empty(graph: Graph, ...after: GraphNode[]): GraphNode {
    return graph.addKernel(this.kernel('empty'), one, { tag: 0 }, after);
  }

  /** A kernel node that takes a while. */
  spin(graph: Graph, milliseconds: number, ...after: GraphNode[]): GraphNode {
    const params = { done: null, microseconds: milliseconds * 1000 };
    return graph.addKernel(this.kernel('spin'), one, params, after);
  }

  /** Launches once and waits. */
  async run(graph: Graph): Promise<void> {
    const exec = await graph.instantiate();
    exec.launch(this.stream);
    await this.stream.synchronize();
    exec.dispose();
  }
}

/** `code number` of the error that a call throws; `ok` when it succeeds. */
export function answer(call: () => unknown): string {
  try {
    call();
    return 'ok';
  } catch (error) {
    if (CudaRuntimeError.isInstance(error)) return `${error.code} ${error.cuda?.number ?? 0}`;
    throw error;
  }
}
