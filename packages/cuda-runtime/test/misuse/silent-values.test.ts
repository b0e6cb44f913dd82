import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ArgumentError,
  CudaRuntimeError,
  type LaunchConfig,
  open,
  openSync,
  type Stream,
  Tensor,
  TraceData,
  tensorFault,
  Workspace,
} from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
let s: Stream;
let y: Tensor;

beforeAll(async () => {
  t = await openTestRuntime();
  s = t.device.createStream({ name: 's' });
  y = Tensor.allocate(t.device, [4], 'i32', { stream: s });
});
afterAll(() => t.runtime.dispose());

const bare: unknown = Object.create(null);
const launch = (config: object) => () => {
  const whole = { grid: [1], block: [1], ...config } as unknown as LaunchConfig;
  s.launch(t.kernels.empty, whole, { tag: 1 });
};
const spin = (params: object) => () =>
  s.launch(t.kernels.spin, { grid: [1], block: [1] }, params as never);
const holes: readonly number[] = new Array(2);
const huge = [...new Array<number>(21).fill(2 ** 53 - 1), 0];

const calls: readonly [string, RegExp, () => unknown][] = [
  ['a grid of four sizes', /`grid` has 4 sizes/, launch({ grid: [1, 1, 1, 9] })],
  ['a grid with null', /`grid` y is null/, launch({ grid: [1, null] })],
  ['a block with null', /`block` z is null/, launch({ block: { x: 1, z: null } })],
  ['sharedBytes of null', /`sharedBytes` is null/, launch({ sharedBytes: null })],
  ['a launch priority of 2^40', /`priority` is 1099511627776/, launch({ priority: 2 ** 40 })],
  ['a priority of 2^40', /`priority` is/, () => t.device.createStream({ priority: 2 ** 40 })],
  ['a count of null', /`bytes` is null/, () => s.copy(y, y, null as never)],
  ['a field of undefined', /missing: done/, spin({ done: undefined, microseconds: 1 })],
  [
    'an inherited field',
    /unknown: more/,
    spin(Object.create({ more: 1, done: 0, microseconds: 1 })),
  ],
  ['strides with holes', /`strides` is \[undefined, undefined\]/, () => of({ strides: holes })],
  ['a shape with holes', /\[undefined, undefined\]/, () => y.view(holes)],
  ['a shape beyond 2^53', /2\^53 bytes/, () => Tensor.of(y.buffer, huge, 'u8')],
  ['an allocation beyond 2^53', /2\^53 bytes/, () => s.tensor([2 ** 50, 2], 'i64')],
  ['a view beyond 2^53', /does not hold/, () => y.slice(0, 0, 0).view(huge)],
  ['ids with holes', /`nodes` is/, () => s.setCaptureDependencies(holes)],
  ['an id beyond 32 bits', /`nodes` is/, () => s.setCaptureDependencies([2 ** 32])],
  ['a lane without name', /`name` is undefined/, () => workspace().lane(undefined as never)],
  ['a lane named by a symbol', /`name` is Symbol/, () => workspace().lane(Symbol('x') as never)],
  ['no tensor', /`tensor` is undefined/, () => tensorFault(undefined as never, rule, t.device)],
  ['no spans', /`content\.spans` is undefined/, () => new TraceData({} as never)],
  ['no span', /`a\[0\]` is undefined/, () => data.overlap([undefined] as never, [])],
  [
    'a backend without prototype',
    /`backend` is an object/,
    () => openSync({ backend: bare } as never),
  ],
  [
    'a policy without prototype',
    /`queuePolicy` is/,
    () => openSync({ queuePolicy: bare } as never),
  ],
  ['a level of null', /`cpu\.level` is null/, () => openSync({ cpu: { level: null } } as never)],
  [
    'a mode without prototype',
    /`mode` is an object/,
    () => s.beginCapture({ mode: bare } as never),
  ],
  ['a port without prototype', /`port` is an object/, () => connect({ port: bare })],
  ['upload to null', /`upload` is null/, () => graph().instantiateSync({ upload: null } as never)],
];

const rule = { dtypes: ['i32'] } as const;
const data = new TraceData({ spans: [] });
const of = (layout: object) => Tensor.of(y.buffer, [2, 2], 'i32', layout);
const workspace = () => new Workspace(t.device);
const graph = () => t.device.createGraph();

function connect(options: object): void {
  const home = graph();
  const [from, to] = [home.addEmpty(), home.addEmpty()];
  home.addDependency(from, to, options);
}

test.each(calls)('%s is refused', (_, message, call) => {
  expect(call).toThrow(CudaRuntimeError);
  expect(call).toThrow(message);
});

test('upload to null rejects, too', async () => {
  await expect(graph().instantiate({ upload: null } as never)).rejects.toThrow(ArgumentError);
});

test('host memory is no memory of a tensor', async () => {
  const host = await t.device.allocHost(16);
  expect(() => Tensor.of(host as never, [4], 'i32')).toThrow(/`memory` is a host buffer/);
});

test.each([
  ['byteOffset', Number.NaN],
  ['byteOffset', 2],
  ['byteOffset', -4],
  ['spanBytes', Number.NaN],
  ['bytes', -1],
])('a tensor whose %s was set to %f is refused', (name, value) => {
  const tensor = Object.assign(y.view([4]), { [name]: value });
  const params = { y: tensor, count: 4, factor: 1, x: 1 };
  const run = () => s.launch(t.kernels.accumulate, { grid: [1], block: [1] }, params);
  for (const call of [run, () => s.fill(tensor, 0)]) {
    expect(call).toThrow(/was changed after it was made/);
  }
});

describe('loadModule', () => {
  const of = (from: string) => ({ package: '@altstream/cuda-runtime', from });
  test.each([
    ['another protocol', of('https://example.org/index.js'), /`source\.from` is https/],
    ['another host', of('file://host/index.js'), /`source\.from` is file:\/\/host/],
    ['a hidden slash', of('file:///a%2Fb'), /`source\.from` is file/],
    ['a path', of('/a/b'), /`source\.from` is \/a\/b/],
    ['NUL', { manifest: '/a\0b' }, /`source\.manifest` is/],
  ])('%s is refused by name', async (_, source, message) => {
    const load = t.runtime.loadModule(source);
    await expect(load).rejects.toThrow(ArgumentError);
    await expect(t.runtime.loadModule(source)).rejects.toThrow(message);
  });
});

describe('values of the environment', () => {
  test.each([
    ['CUDA_RUNTIME_CPU_LEVEL', 'sse9', /`CUDA_RUNTIME_CPU_LEVEL` is sse9, expected baseline/],
    ['CRT_WARN_LEAKS', 'yes', /CRT_WARN_LEAKS is `yes`, expected 0 or 1/],
    ['CUDA_RUNTIME_CPU_THREADS', '5000', /`CUDA_RUNTIME_CPU_THREADS` is 5000, expected at most/],
  ])('%s is named', async (name, value, message) => {
    const before = process.env[name];
    process.env[name] = value;
    try {
      await expect(open({ backend: 'cpu', isolated: true })).rejects.toThrow(message);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });
});
