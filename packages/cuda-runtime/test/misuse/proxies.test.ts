import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ArgumentError,
  CudaRuntimeError,
  Event,
  exportHandle,
  MappedFile,
  type Stream,
  StreamPool,
  Tensor,
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

const one = { grid: [1], block: [1] } as const;
// As reactive state of a user interface hands objects out.
const reactive = <T extends object>(object: T): T => new Proxy(object, {});
const accumulate = (y: Tensor | Tensor['buffer']) =>
  s.launch(t.kernels.accumulate, one, { y, count: 4, factor: 1, x: 1 });

const calls: readonly [string, RegExp, () => unknown][] = [
  ['waitStream', /the stream is a proxy/, () => s.waitStream(reactive(t.device.createStream()))],
  ['fill of its own', /the stream is a proxy/, () => reactive(s).fill(y, 1)],
  ['wait', /the event is a proxy/, () => s.wait(reactive(s.record()))],
  ['record', /the event is a proxy/, () => s.record(reactive(t.device.createEvent()))],
  ['elapsedMs', /the event is a proxy/, () => Event.elapsedMs(reactive(s.record()), s.record())],
  ['fill', /the buffer is a proxy/, () => s.fill(reactive(y.buffer), 1)],
  ['a field', /the buffer is a proxy/, () => accumulate(reactive(y.buffer))],
  ['copy', /the host buffer is a proxy/, () => s.copy(y, reactive(t.device.allocHostSync(16)))],
  ['launch', /the kernel is a proxy/, () => s.launch(reactive(t.kernels.empty), one, { tag: 1 })],
  ['addChild', /the graph is a proxy/, () => graph().addChild(reactive(graph()))],
  ['addWhile', /the condition is a proxy/, addWhile],
  ['addHost', /the host function is a proxy/, () => graph().addHost(reactive(callback()))],
  ['export', /executable is a proxy/, () => exportHandle(reactive(graph().instantiateSync()))],
];

test.each(calls)('a proxy in %s is an ArgumentError that says so', (_, message, call) => {
  expect(call).toThrow(ArgumentError);
  expect(call).toThrow(message);
  expect(call).toThrow(/Pass the object itself/);
});

test('a tensor has nothing hidden: its proxy is the tensor', async () => {
  s.fill(reactive(y), 1);
  const values = new Int32Array(4);
  await s.read(reactive(y), values);
  expect([...values]).toEqual(new Array(4).fill(0x01010101));
});

// Called by this package only, with what it made.
const internal = [
  'adoptStream',
  'become',
  'captureBegan',
  'captureEnded',
  'changed',
  'freeBy',
  'release',
];

test('no member of any wrapper answers its proxy with a TypeError', async () => {
  const wrappers: Readonly<Record<string, object>> = {
    runtime: t.runtime,
    device: t.device,
    module: t.module,
    kernel: t.kernels.spin,
    stream: s,
    graph: graph(),
    exec: graph().instantiateSync(),
    event: s.record(),
    buffer: t.device.alloc(8),
    graphBuffer: graph().addAlloc(8).buffer,
    host: t.device.allocHostSync(8),
    tensor: y,
    workspace: new Workspace(t.device),
    pool: new StreamPool(t.device, 1),
    condition: graph().createCondition(),
    trace: t.runtime.trace,
    streams: t.runtime.streams,
    callback: callback(),
    file: await MappedFile.open(import.meta.filename),
  };
  for (const [name, wrapper] of Object.entries(wrappers)) {
    // What inherits from a wrapper without being made by its class, as copies of state do.
    for (const foreign of [reactive(wrapper), Object.create(wrapper) as object]) {
      for (const { member, call } of membersOf(wrapper, foreign)) {
        const error = await call().then(
          () => undefined,
          (error: unknown) => error,
        );
        const what = `${name}.${String(member)}: ${String(error)}`;
        expect(error === undefined || CudaRuntimeError.isInstance(error), what).toBe(true);
        if (member === 'isDisposed' && wrapper !== y) expect(error, what).toMatchObject({ code });
        if (member === 'dispose' && wrapper !== y) expect(error, what).toMatchObject({ code });
      }
    }
  }
});

const code = 'CRT_ARGUMENT';

interface Member {
  readonly member: string | symbol;
  readonly call: () => Promise<unknown>;
}

function membersOf(wrapper: object, receiver: object): readonly Member[] {
  const members: Member[] = [];
  let prototype = Object.getPrototypeOf(wrapper);
  for (; prototype !== Object.prototype; prototype = Object.getPrototypeOf(prototype)) {
    const described = Object.getOwnPropertyDescriptors(prototype) as Record<
      string | symbol,
      PropertyDescriptor
    >;
    for (const member of Reflect.ownKeys(described)) {
      const isOurs = typeof member === 'string' && internal.includes(member);
      if (member === 'constructor' || isOurs) continue;
      const { get, value } = described[member] ?? {};
      members.push({ member, call: async () => (get ?? value).call(receiver) });
    }
  }
  return members;
}

const graph = () => t.device.createGraph();

function addWhile(): void {
  const loop = graph();
  loop.addWhile(reactive(loop.createCondition(1)));
}

function callback() {
  const calls = t.device.allocHostSync(8);
  return t.module.callback('test_host_count', { calls, microseconds: 0, step: 1 });
}
