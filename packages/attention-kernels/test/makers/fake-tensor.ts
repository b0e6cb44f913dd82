// Tensors and a stream without memory: enough for argument checks, which come before any launch.
import type { DeviceLimits, DType, Stream, Tensor } from '@altstream/cuda-runtime';

/** Limits of the fake device, which is a CPU. */
export const cpuLimits: DeviceLimits = {
  sm: '',
  processors: 4,
  maxThreadsPerBlock: 1024,
  maxBlock: [1024, 1024, 64],
  maxGrid: [2 ** 31 - 1, 65_535, 65_535],
  sharedBytesPerBlock: 49_152,
  sharedBytesPerBlockOptIn: 49_152,
  memoryBytes: 2 ** 30,
  cpuLevel: 'avx2',
};

/** Limits of an H200. */
export const h200Limits: DeviceLimits = {
  ...cpuLimits,
  sm: '9.0',
  processors: 132,
  sharedBytesPerBlockOptIn: 232_448,
  memoryBytes: 141 * 2 ** 30,
  cpuLevel: '',
};

const device = { name: 'fake device', limits: cpuLimits };

/** A tensor of the fake device; contiguous unless strides are given. */
export function fakeTensor(
  shape: readonly number[],
  dtype: DType,
  options: { readonly strides?: readonly number[]; readonly device?: object } = {},
): Tensor {
  const dense = shape.map((_, dim) => shape.slice(dim + 1).reduce((a, b) => a * b, 1));
  const strides = options.strides ?? dense;
  const tensor: object = {
    shape,
    dtype,
    strides,
    byteOffset: 0,
    device: options.device ?? device,
    rank: shape.length,
    elements: shape.reduce((a, b) => a * b, 1),
    isContiguous: strides.every((stride, dim) => shape[dim] === 1 || stride === dense[dim]),
    describe: () => `${dtype} [${shape.join(', ')}]`,
    borrow: () => tensor,
    dispose: () => undefined,
  };
  return tensor as Tensor;
}

/**
 * A stream of the fake device. No kernels are loaded for it: a call that passes its checks fails.
 */
export function fakeStream(): Stream {
  return { device, runtime: {}, tensor: fakeTensor } as unknown as Stream;
}

/** A tensor on a device that is not the stream's. */
export function foreignTensor(shape: readonly number[], dtype: DType): Tensor {
  return fakeTensor(shape, dtype, { device: { name: 'other device' } });
}
