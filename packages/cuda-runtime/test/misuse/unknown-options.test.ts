import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CudaRuntimeError,
  captureOrRun,
  forkJoin,
  KernelLibrary,
  MappedFile,
  openSync,
  type Runtime,
  type Stream,
  Tensor,
  Workspace,
  withAlt,
} from '../../src/index.js';
import { expectClose, injectFaults } from '../../src/testing/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

/**
 * Where an option of this name is given, what the call says, and the known name that it is near.
 */
type Row = readonly [where: string, call: (options: never) => unknown, key: string, near?: string];

const none = () => undefined;
const openCpu = (options: object) => openSync({ backend: 'cpu', isolated: true, ...options });

onEachBackend((backend) => {
  let t: TestRuntime;
  let stream: Stream;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
    stream = t.device.createStream({ name: 's' });
  });
  afterAll(() => t.runtime.dispose());
  const launch = (more: object, programmatic?: object) => {
    const config = { grid: [1], block: [1], ...more, ...(programmatic ? { programmatic } : {}) };
    stream.launch(t.kernels.empty, config as never, { tag: 0 });
  };
  const graph = () => t.device.createGraph();
  const runtime = (): Runtime => t.runtime;

  const rows: readonly Row[] = [
    ['open', openCpu, 'isolatd', 'isolated'],
    ['open', (pool) => openCpu({ pool }), 'initialByte', 'pool.initialBytes'],
    ['open', (cpu) => openCpu({ cpu }), 'thread', 'cpu.threads'],
    ['open', (cost) => openCpu({ cpu: { cost } }), 'kernls', 'cpu.cost.kernels'],
    ['open', (copy) => openCpu({ cpu: { cost: { copy } } }), 'µs', 'cpu.cost.copy.us'],
    ['device.createStream', (o) => t.device.createStream(o), 'prio', 'priority'],
    ['device.createEvent', (o) => t.device.createEvent(o), 'timeing', 'timing'],
    ['device.alloc', (o) => t.device.alloc(4, o), 'lable', 'label'],
    ['device.capture', (o) => t.device.capture(none, o), 'strem', 'stream'],
    ['stream.beginCapture', (o) => stream.beginCapture(o), 'stream'],
    [
      'stream.beginCapture',
      (o: object) => stream.beginCapture({ into: { graph: graph(), ...o } }),
      'afer',
      'into.after',
    ],
    ['captureOrRun', (o) => captureOrRun(stream, none, o), 'moed', 'mode'],
    ['stream.record', (o) => stream.record(undefined, o), 'externl', 'external'],
    ['stream.wait', (o) => stream.wait(stream.record(), o), 'Extern', 'external'],
    ['stream.synchronizeSync', (o) => stream.synchronizeSync(o), 'timeout', 'timeoutMs'],
    ['streams.get', (o) => runtime().streams.get('x', o), 'dev', 'device'],
    ['forkJoin', (o) => forkJoin(stream, [], none, o), 'ordre', 'order'],
    ['forkJoin', (o) => withAlt(stream, stream, none, none, o), 'ordre', 'order'],
    ['stream.launch', (o) => launch(o), 'shareBytes', 'config.sharedBytes'],
    ['stream.launch', (o) => launch({}, o), 'evnt', 'programmatic.event'],
    ['stream.launch', (o: object) => launch({ grid: { x: 1, ...o } }), 'w'],
    ['graph.addIf', (o) => graph().addIf(graph().createCondition(), [], o), 'els', 'else'],
    ['graph.instantiate', (o) => graph().instantiateSync(o), 'uplaod', 'upload'],
    ['graph.toDot', (o) => graph().toDot(o), 'rankDir', 'rankdir'],
    ['trace.start', (o) => runtime().trace.start(o), 'sorce', 'source'],
    ['device.alloc', (o) => Tensor.allocate(t.device, [1], 'f32', o), 'steam', 'stream'],
    [
      'Tensor.of',
      (o) => Tensor.of(t.device.alloc(4), [1], 'f32', o),
      'byteOfset',
      'layout.byteOffset',
    ],
    ['new Workspace', (o) => new Workspace(t.device, o), 'chunkSize', 'chunkBytes'],
    [
      'new KernelLibrary',
      (o: object) => new KernelLibrary({ package: 'a', from: 'b:', notLoaded: Error, ...o }),
      'notLoadd',
      'notLoaded',
    ],
    ['expectClose', (o) => expectClose([], [], o), 'absolut', 'tolerance.absolute'],
    ['injectFaults', (o) => injectFaults(runtime()).failCall(o), 'affter', 'fault.after'],
    ['injectFaults', (o) => injectFaults(runtime()).failKernel('k', 700, o), 'aftr', 'after'],
  ];

  test.each(rows.map(([api, call, key, near]) => ({ api, call, key, near })))(
    '$api refuses $key',
    ({ api, call, key, near }) => {
      let error: unknown;
      try {
        call({ [key]: 1 } as never);
      } catch (thrown) {
        error = thrown;
      }
      expect(CudaRuntimeError.isInstance(error) && error.code).toBe('CRT_ARGUMENT');
      const text = String(error);
      expect(text).toContain(`${api}: `);
      expect(text).toMatch(new RegExp(`${key}\` is not an option, expected \\w+`));
      expect(text).toContain(near === undefined ? 'Leave it out' : `Write \`${near}\``);
    },
  );

  test('calls that give a promise reject', async () => {
    const options = { sgnal: 1 } as never;
    const rejected = { code: 'CRT_ARGUMENT', message: expect.stringContaining('Write `signal`') };
    await expect(stream.synchronize(options)).rejects.toMatchObject(rejected);
    await expect(t.device.synchronize(options)).rejects.toMatchObject(rejected);
    await expect(stream.record().done(options)).rejects.toMatchObject(rejected);
    await expect(graph().instantiate({ x: 1 } as never)).rejects.toThrow(/`x` is not an option/);
    await expect(MappedFile.open('/', { acces: 1 } as never)).rejects.toThrow(/Write `access`/);
    const source = { manifest: '/none', from: '' } as never;
    await expect(runtime().loadModule(source)).rejects.toThrow(/`source.from` is not an option/);
  });

  test('`addDependency`, and the known names when nothing is near', () => {
    const built = graph();
    const [a, b] = [built.addEmpty(), built.addEmpty()];
    expect(() => built.addDependency(a, b, { prot: 'launch' } as never)).toThrow(/Write `port`/);
    expect(() => runtime().trace.start({ foo: 1 } as never)).toThrow(
      /trace.start: `foo` is not an option, expected mode, source.* Leave it out/,
    );
    expect(runtime().trace.isOn).toBe(false);
  });

  test('`eventAtBlockStart` without an event is refused, and flags must be flags', () => {
    expect(() => launch({}, { eventAtBlockStart: true })).toThrow(
      expect.objectContaining({ code: 'CRT_LAUNCH_CONFIG', cuda: expect.anything() }),
    );
    expect(() => launch({}, { serialize: 1 })).toThrow(/`programmatic.serialize` is 1/);
    const event = t.device.createEvent();
    launch({}, { eventAtBlockStart: true, event });
    expect(() => stream.record(event, { external: 1 } as never)).toThrow(/`external` is 1/);
    expect(() => forkJoin(stream, [], none, { order: 'x' as never })).toThrow(/`order` is/);
  });
});
