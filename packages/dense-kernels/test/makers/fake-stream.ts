// Tensors and a stream without memory or kernels: enough for argument checks, plans and launch
// parameters, which need no backend.
import type { DeviceLimits, DType, LaunchConfig, Stream, Tensor } from '@altstream/cuda-runtime';
import { loadDenseKernels } from '../../src/module.js';

/** What a launch on the fake stream was given. */
export interface FakeLaunch {
  readonly kernel: string;
  readonly config: LaunchConfig;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Limits of a small device. */
export const limits: DeviceLimits = {
  sm: '9.0',
  processors: 4,
  maxThreadsPerBlock: 1024,
  maxBlock: [1024, 1024, 64],
  maxGrid: [2 ** 31 - 1, 65_535, 65_535],
  sharedBytesPerBlock: 49_152,
  sharedBytesPerBlockOptIn: 232_448,
  memoryBytes: 2 ** 30,
  cpuLevel: '',
};

const device = { name: 'fake 0', limits };
const otherDevice = { name: 'fake 1', limits };

/** A tensor of nothing; `strides` in elements, `elsewhere` puts it on another device. */
export function fakeTensor(
  shape: readonly number[],
  dtype: DType,
  options: { strides?: readonly number[]; elsewhere?: boolean } = {},
): Tensor {
  const dense = shape.map((_, dim) => shape.slice(dim + 1).reduce((a, b) => a * b, 1));
  const strides = options.strides ?? dense;
  const tensor: object = {
    shape,
    dtype,
    strides,
    byteOffset: 0,
    rank: shape.length,
    elements: shape.reduce((a, b) => a * b, 1),
    isContiguous: strides.every((stride, dim) => stride === dense[dim] || shape[dim] === 1),
    device: options.elsewhere ? otherDevice : device,
    slice: (dim: number, start: number, end: number) =>
      fakeTensor(shape.with(dim, end - start), dtype, { strides }),
    borrow: () => tensor,
    dispose: () => undefined,
  };
  return tensor as Tensor;
}

/** A stream that keeps what was launched. The kernels count as loaded unless told otherwise. */
export async function fakeStream(options: { loaded?: boolean } = {}): Promise<{
  stream: Stream;
  launches: FakeLaunch[];
}> {
  const launches: FakeLaunch[] = [];
  const runtime = { loadModule: async () => ({ kernel: (name: string) => name }) };
  const stream = {
    device,
    runtime,
    tensor: fakeTensor,
    launch: (kernel: string, config: LaunchConfig, params: FakeLaunch['params']) => {
      launches.push({ kernel, config, params });
    },
  } as unknown as Stream;
  if (options.loaded !== false) await loadDenseKernels(stream.runtime);
  return { stream, launches };
}
