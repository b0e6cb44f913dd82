import { fileURLToPath } from 'node:url';
import type { Device, Kernel, Module, Runtime, Stream, Tensor } from '../../src/index.js';
import { type OpenOptions, open, Tensor as Tensors } from '../../src/index.js';

const manifest = fileURLToPath(
  new URL('../../build/Release/test_kernels/manifest.json', import.meta.url),
);

/** An isolated CPU runtime with the small kernels of `test/kernels`. */
export interface TestRuntime {
  readonly runtime: Runtime;
  readonly device: Device;
  readonly module: Module;
  readonly kernels: Readonly<Record<TestKernel, Kernel>>;
}

// Kernels by their name without `test_`.
type TestKernel = (typeof names)[number];

const names = [
  'fill',
  'overrun',
  'add',
  'accumulate',
  'spin',
  'empty',
  'rendezvous',
  'parallel',
  'pdl_first',
  'pdl_second',
  'pdl_no_wait',
  'condition',
] as const;

/** Opens a runtime of its own. Dispose it after the test. */
export async function openTestRuntime(options: OpenOptions = {}): Promise<TestRuntime> {
  return testRuntimeOf(await open({ backend: 'cpu', isolated: true, ...options }));
}

/** The kernels on a runtime that is open. */
export async function testRuntimeOf(runtime: Runtime): Promise<TestRuntime> {
  const module = await runtime.loadModule({ manifest });
  const kernels = Object.fromEntries(names.map((name) => [name, module.kernel(`test_${name}`)]));
  return { runtime, device: runtime.device(), module, kernels: kernels as TestRuntime['kernels'] };
}

/** A kernel that keeps `stream` busy; returns a flag that becomes 1 at its end. */
export function spin(test: TestRuntime, stream: Stream, milliseconds: number): Tensor {
  const done = Tensors.allocate(test.device, [1], 'i32', { stream });
  stream.fill(done, 0);
  const params = { done, microseconds: milliseconds * 1000 };
  stream.launch(test.kernels.spin, { grid: [1], block: [1] }, params);
  return done;
}

/** y = y · factor + x on every element. */
export function accumulate(test: TestRuntime, stream: Stream, y: Tensor, factor = 1, x = 1): void {
  const params = { y, count: y.elements, factor, x };
  stream.launch(test.kernels.accumulate, { grid: [1], block: [256] }, params);
}

/** A zeroed i32 tensor. */
export function zeros(test: TestRuntime, stream: Stream, elements: number): Tensor {
  const tensor = Tensors.allocate(test.device, [elements], 'i32', { stream });
  stream.fill(tensor, 0);
  return tensor;
}

/** The elements of an i32 tensor. */
export async function readInts(stream: Stream, tensor: Tensor): Promise<readonly number[]> {
  const values = new Int32Array(tensor.elements);
  await stream.read(tensor, values);
  return [...values];
}
