import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type CpuOptions,
  type Device,
  type Kernel,
  open,
  type Runtime,
  type Stream,
  Tensor,
} from '../src/index.js';

/** What a bench works with. */
export interface BenchRuntime {
  readonly bench: string;
  readonly runtime: Runtime;
  readonly device: Device;
  readonly stream: Stream;
  /** `--quick`: few runs of small cases, to see that the bench works; nothing is saved. */
  readonly isQuick: boolean;
  /** `--save`: keeps the rows in `bench/results`. */
  readonly isSaved: boolean;
  /** `--out FOLDER`: keeps them there. */
  readonly out: string | undefined;
  /** A small kernel of `test/kernels`, by its name without `test_`. */
  kernel(name: string): Kernel;
}

const manifest = fileURLToPath(
  new URL('../build/Release/test_kernels/manifest.json', import.meta.url),
);

/**
 * Opens what the command line asks for: `--backend auto|cpu|cuda` (default auto) and `--threads N`
 * of the CPU backend. Streams take more pending work than by default, since a bench submits a lot
 * at once.
 */
export async function openBench(bench: string): Promise<BenchRuntime> {
  const { values } = parseArgs({
    options: {
      backend: { type: 'string', default: 'auto' },
      threads: { type: 'string' },
      quick: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      out: { type: 'string' },
    },
  });
  const runtime = await open({
    backend: values.backend as 'auto' | 'cpu' | 'cuda', // open refuses other words by name
    isolated: true,
    maxPending: 16_384,
    ...(values.threads === undefined ? {} : { cpu: threads(values.threads) }),
  });
  const module = await runtime.loadModule({ manifest });
  const device = runtime.device();
  const kernels = new Map(module.kernels.map((name) => [name, module.kernel(name)]));
  return {
    bench,
    runtime,
    device,
    stream: device.createStream({ name: 'main' }),
    isQuick: values.quick,
    isSaved: values.save,
    out: values.out,
    kernel: (name) => kernels.get(`test_${name}`) ?? module.kernel(`test_${name}`),
  };
}

/** A zeroed tensor that tiny kernels count in. */
export function counters({ device, stream }: BenchRuntime): Tensor {
  const tensor = Tensor.allocate(device, [16], 'i32', { stream });
  stream.fill(tensor, 0);
  return tensor;
}

/** What a counter has after all submitted work. */
export async function count({ stream }: BenchRuntime, counter: Tensor): Promise<number> {
  const values = new Int32Array(16);
  await stream.read(counter, values);
  return values.every((value) => value === values[0]) ? (values[0] ?? 0) : Number.NaN;
}

/** The tiny kernel of all benches: 16 counters go up by one. */
export function addOne({ kernel }: BenchRuntime, on: Stream, y: Tensor): void {
  on.launch(kernel('accumulate'), tiny, { y, count: 16, factor: 1, x: 1 });
}

/** Keeps `on` busy for a time that the clock decides. */
export function spin({ kernel }: BenchRuntime, on: Stream, microseconds: number): void {
  on.launch(kernel('spin'), single, { done: null, microseconds });
}

const tiny = { grid: [1], block: [256] } as const;
const single = { grid: [1], block: [1] } as const;

function threads(text: string): CpuOptions {
  return { threads: Number(text) };
}
