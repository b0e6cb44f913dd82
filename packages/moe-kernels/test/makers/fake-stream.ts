import type {
  Device,
  DeviceLimits,
  DType,
  LaunchConfig,
  Runtime,
  Stream,
  Tensor,
} from '@altstream/cuda-runtime';
import { loadMoeKernels } from '../../src/module.js';

/** A launch that a fake stream was asked for. */
export interface FakeLaunch {
  readonly kernel: string;
  readonly config: LaunchConfig;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A stream that records launches and runs none; for tests of checks and plans. */
export interface FakeStream {
  readonly stream: Stream;
  readonly launches: FakeLaunch[];
  tensor(shape: readonly number[], dtype: DType): Tensor;
}

/** CPU limits unless changed; `sm: '9.0', cpuLevel: ''` makes it a Hopper. */
export async function fakeStream(limits: Partial<DeviceLimits> = {}): Promise<FakeStream> {
  const launches: FakeLaunch[] = [];
  const runtime = {
    loadModule: async () => ({ kernel: (name: string) => ({ name }) }),
  } as unknown as Runtime;
  const device = {
    index: 0,
    name: 'fake',
    runtime,
    limits: {
      sm: '',
      cpuLevel: 'baseline',
      processors: 2,
      sharedBytesPerBlockOptIn: 232_448,
      ...limits,
    },
  } as unknown as Device;
  const tensor = (shape: readonly number[], dtype: DType) => fakeTensor(device, shape, dtype);
  const stream = {
    device,
    runtime,
    tensor,
    launch(kernel: { name: string }, config: LaunchConfig, params: Record<string, unknown>) {
      launches.push({ kernel: kernel.name, config, params });
      return stream;
    },
  } as unknown as Stream;
  await loadMoeKernels(runtime);
  return { stream, launches, tensor };
}

/** A contiguous tensor without memory, in a buffer of its own. */
export function fakeTensor(device: Device, shape: readonly number[], dtype: DType): Tensor {
  const elements = shape.reduce((product, size) => product * size, 1);
  const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const tensor: object = {
    device,
    buffer: {},
    dtype,
    shape,
    strides,
    elements,
    bytes: elements * 4,
    byteOffset: 0,
    rank: shape.length,
    isContiguous: true,
    borrow: () => tensor,
    dispose: () => {},
  };
  return tensor as Tensor;
}
