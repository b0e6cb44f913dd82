import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ArgumentError,
  BackendMismatchError,
  CudaRuntimeError,
  type Device,
  Event,
  open,
  openSync,
  type Stream,
  Tensor,
  Workspace,
  withAlt,
  withScratch,
} from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
let other: TestRuntime;
let s: Stream;
let foreign: Stream;
let y: Tensor;

beforeAll(async () => {
  t = await openTestRuntime();
  other = await openTestRuntime();
  s = t.device.createStream({ name: 's' });
  foreign = other.device.createStream();
  y = Tensor.allocate(t.device, [4], 'i32', { stream: s });
});
afterAll(async () => {
  await t.runtime.dispose();
  await other.runtime.dispose();
});

const one = { grid: [1], block: [1] } as const;
const nothing = () => undefined;

// Each call gets a value that is not what its argument must be.
const calls: Readonly<Record<string, (value: never) => unknown>> = {
  'launch kernel': (value) => s.launch(value, one, {}),
  'launch config': (value) => s.launch(t.kernels.accumulate, value, {}),
  'launch params': (value) => s.launch(t.kernels.accumulate, one, value),
  wait: (value) => s.wait(value),
  waitStream: (value) => s.waitStream(value),
  notify: (value) => s.notify(value),
  'fill memory': (value) => s.fill(value, 1),
  'fill byte': (value) => s.fill(y, value),
  'copy source': (value) => s.copy(y, value),
  'write source': (value) => s.write(y, value),
  'capture body': (value) => t.device.capture(value),
  'alloc bytes': (value) => t.device.alloc(value),
  'createStream priority': (value) => t.device.createStream({ priority: value }),
  'streams.set stream': (value) => t.runtime.streams.set('x', value),
  'streams.get name': (value) => t.runtime.streams.get(value),
  'streams.get device': (value) => t.runtime.streams.get('x', { device: value }),
  withStream: (value) => t.runtime.withStream(value, nothing),
  'withStream body': (value) => t.runtime.withStream(s, value),
  withAlt: (value) => withAlt(s, value, nothing, nothing),
  'withAlt main': (value) => withAlt(value, s, nothing, nothing),
  'withAlt body': (value) => withAlt(s, t.runtime.streams.get('alt'), value, nothing),
  elapsedMs: (value) => Event.elapsedMs(value, value),
  'Tensor.allocate shape': (value) => Tensor.allocate(t.device, value, 'f32'),
  'Tensor.allocate device': (value) => Tensor.allocate(value, [1], 'f32'),
  'Tensor.allocate dtype': (value) => Tensor.allocate(t.device, [1], value),
  'Tensor.of buffer': (value) => Tensor.of(value, [1], 'f32'),
  'tensor.view': (value) => y.view(value),
  'tensor.view size': (value) => y.view([value]),
  'tensor.slice dim': (value) => y.slice(value, 0, 1),
  'tensor.slice start': (value) => y.slice(0, value, 4),
  'Tensor.of strides': (value) => Tensor.of(y.buffer, [4], 'i32', { strides: [value] }),
  'launch grid': (value) => s.launch(t.kernels.empty, { ...one, grid: [value] }, { tag: 1 }),
  'launch block': (value) => s.launch(t.kernels.empty, { ...one, block: [value] }, { tag: 1 }),
  'launch cluster': (value) => s.launch(t.kernels.empty, { ...one, cluster: [value] }, { tag: 1 }),
  'workspace.release': (value) => new Workspace(t.device).release(value),
  withScratch: (value) => withScratch(value, nothing),
  workspace: (value) => new Workspace(value),
  'runtime.device': (value) => t.runtime.device(value),
  'exec.launch': (value) =>
    t.device.capture(nothing, { stream: s }).instantiateSync().launch(value),
};

const values: readonly [string, unknown][] = [
  ['null', null],
  ['-5', -5],
  ['text', 'length'],
  ['a symbol', Symbol('a')],
  ['a bigint', 1n],
  ['an object', {}],
  ['an object without prototype', Object.create(null)],
];

describe.each(Object.entries(calls))('%s', (_, call) => {
  test.each(values)('refuses %s', (text, value) => {
    const isName = text === 'text' && call === calls['streams.get name'];
    const isSize = text === '-5' && call === calls['createStream priority'];
    if (isName || isSize) return expect(() => call(value as never)).not.toThrow();
    expect(() => call(value as never)).toThrow(CudaRuntimeError);
    expect(() => call(value as never)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^CRT_(ARGUMENT|LAUNCH_CONFIG)$/) }),
    );
    return undefined;
  });
});

const options: Readonly<Record<string, (value: never) => unknown>> = {
  'alloc label': (label) => t.device.alloc(8, { label }),
  'alloc stream': (stream) => t.device.alloc(8, { stream }),
  'capture stream': (stream) => t.device.capture(nothing, { stream }),
  'stream name': (name) => t.device.createStream({ name }),
  'createEvent options': (options) => t.device.createEvent(options),
  'createEvent timing': (timing) => t.device.createEvent({ timing }),
  'new Workspace options': (options) => new Workspace(t.device, options),
  'launch cooperative': (cooperative) =>
    s.launch(t.kernels.empty, { ...one, cooperative }, { tag: 1 }),
  'module.kernel name': (name) => t.module.kernel(name),
  'module.callback name': (name) => t.module.callback(name, {}),
  'stream blocking': (blocking) => t.device.createStream({ blocking }),
  guards: (guards) => openSync({ guards }),
  strictEvents: (strictEvents) => openSync({ strictEvents }),
  isolated: (isolated) => openSync({ isolated }),
  cpu: (cpu) => openSync({ cpu }),
  'cpu.poison': (poison) => openSync({ cpu: { poison } }),
  'cpu.raceCheck': (raceCheck) => openSync({ cpu: { raceCheck } }),
};

test.each(Object.entries(options))('option %s of a wrong type is named', (name, call) => {
  const argument = name.split(' ').at(-1) ?? '';
  for (const value of [null, 5, Symbol('x')]) {
    expect(() => call(value as never)).toThrow(ArgumentError);
    expect(() => call(value as never)).toThrow(`\`${argument}\` is ${String(value)}, expected`);
  }
});

describe('loadModule', () => {
  test.each([
    null,
    5,
    [],
    {},
    { manifest: 5 },
    { package: 1n },
    { package: 'x' },
    { package: 'x', from: 'no url' },
  ])('refuses %o', async (source) => {
    await expect(t.runtime.loadModule(source as never)).rejects.toBeInstanceOf(ArgumentError);
  });
});

describe('handles of another runtime', () => {
  test.each<[string, RegExp, () => unknown]>([
    ['streams.set', /`stream`/, () => t.runtime.streams.set('x', foreign)],
    ['streams.get', /`device`/, () => t.runtime.streams.get('x', { device: other.device })],
    ['alloc', /`stream`/, () => t.device.alloc(4, { stream: foreign })],
    ['Tensor.allocate', /`stream`/, () => tensorOn(foreign)],
    ['capture', /`stream`/, () => t.device.capture(nothing, { stream: foreign })],
    ['withStream', /`stream`/, () => t.runtime.withStream(foreign, nothing)],
    ['elapsedMs', /`end`/, () => Event.elapsedMs(event(t.device), event(other.device))],
  ])('%s names the argument', (_, argument, call) => {
    expect(call).toThrow(BackendMismatchError);
    expect(call).toThrow(argument);
    expect(call).toThrow(/another runtime/);
  });

  test.each(['launch', 'upload'] as const)('an executable refuses to %s there', (call) => {
    const graph = t.device.capture(() => s.fill(y, 0), { stream: s });
    const exec = graph.instantiateSync();
    expect(() => exec[call](foreign)).toThrow(BackendMismatchError);
    exec[call](s).dispose();
    graph.dispose();
  });

  test('nothing is left behind: the stream captures and the name is free', () => {
    expect(foreign.captureStatus).toBe('none');
    expect(t.runtime.streams.get('x').runtime).toBe(t.runtime);
  });
});

test('a device that the backend has not is refused at open', async () => {
  await expect(open({ backend: 'cpu', device: 3, isolated: true })).rejects.toMatchObject({
    code: 'CRT_ARGUMENT',
    message: expect.stringContaining('`device` is 3, expected 0 … 0 on the cpu backend'),
  });
});

describe('a detached array', () => {
  const detached = (make: (buffer: ArrayBuffer) => ArrayBufferView): ArrayBufferView => {
    const memory = new ArrayBuffer(16);
    const view = make(memory);
    structuredClone(memory, { transfer: [memory] });
    return view;
  };

  test.each<[string, (buffer: ArrayBuffer) => ArrayBufferView]>([
    ['Uint8Array', (buffer) => new Uint8Array(buffer)],
    ['Float32Array', (buffer) => new Float32Array(buffer)],
    ['DataView', (buffer) => new DataView(buffer)],
  ])('%s is refused by write and read', async (_, make) => {
    const text = /memory of `\w+` was transferred/;
    expect(() => s.write(y.buffer, detached(make))).toThrow(ArgumentError);
    expect(() => s.write(y.buffer, detached(make))).toThrow(text);
    await expect(s.read(y.buffer, detached(make))).rejects.toThrow(text);
  });

  test('an empty array is not one', async () => {
    s.write(y.buffer, new Uint8Array(0));
    await s.read(y.buffer, new Uint8Array(0));
  });
});

describe('forged memory', () => {
  const fake = (device: Device, handle: unknown, elements = 4) =>
    Tensor.of({ device, bytes: 1e9, use: () => handle } as never, [elements], 'i32');

  test('a buffer of somebody else is refused by copies and by launches', () => {
    const params = (y: Tensor) => ({ y, count: 4, factor: 1, x: 1 });
    const refuse = (tensor: Tensor) => {
      expect(() => s.fill(tensor, 1)).toThrow(ArgumentError);
      expect(() => s.launch(t.kernels.accumulate, one, params(tensor))).toThrow(CudaRuntimeError);
    };
    for (const handle of [0, -1, Number.NaN, 2 ** 40, 'a', null, {}, s.use('test')]) {
      refuse(fake(t.device, handle));
    }
    const real = y.buffer.use('test');
    refuse(fake(t.device, real, 1e6));
    refuse(fake(t.device, real, 5));
  });

  test('an object of the right prototype is not a buffer, a stream or an event', () => {
    const forge = (value: object) => Object.create(Object.getPrototypeOf(value));
    expect(() => s.fill(forge(y.buffer), 1)).toThrow(ArgumentError);
    expect(() => s.waitStream(forge(s))).toThrow(CudaRuntimeError);
    expect(() => s.wait(forge(s.record()))).toThrow(CudaRuntimeError);
  });

  test('a buffer made with a number of nobody is a warning when it is collected', async () => {
    const warnings: string[] = [];
    const note = (warning: Error) => warnings.push(warning.message);
    process.on('warning', note);
    const Forged = y.buffer.constructor as new (...facts: unknown[]) => object;
    const forget = () => void new Forged(t.device, 999_999, 1e9, 'forged');
    forget();
    for (let round = 0; round < 100 && warnings.length === 0; round += 1) {
      globalThis.gc?.();
      await delay(10);
    }
    process.off('warning', note);
    expect(warnings.join()).toMatch(/buffer forged could not be released: .*released before/);
  });

  test('strides are copied: changing the array afterwards changes nothing', () => {
    const strides = [2];
    const tensor = Tensor.of(t.device.alloc(32), [4], 'i32', { strides });
    strides[0] = 1e9;
    expect(tensor.strides).toEqual([2]);
  });
});

function tensorOn(stream: Stream): Tensor {
  return Tensor.allocate(t.device, [1], 'f32', { stream });
}

function event(device: Device): Event {
  const stream = device.createStream();
  return stream.record(device.createEvent({ timing: true }));
}
