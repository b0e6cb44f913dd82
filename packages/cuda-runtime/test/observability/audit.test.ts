import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  DisposedError,
  exportHandle,
  importHandle,
  type LiveRecord,
  type LiveRecordKind,
  MappedFile,
  open,
  type RecordHolder,
  type Stream,
  StreamPool,
  Tensor,
  Workspace,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { closeGate } from '../makers/gate.js';
import { expectLive, liveOf } from '../makers/live-objects.js';
import { accumulate, openTestRuntime, type TestRuntime, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 's' });
  });
  afterEach(() => t.runtime.dispose());

  const find = (kind: LiveRecordKind, label?: string): LiveRecord | undefined =>
    t.runtime
      .audit()
      .find((one) => one.kind === kind && (label === undefined || one.label === label));
  const holders = (kind: LiveRecordKind, label?: string): readonly RecordHolder[] =>
    find(kind, label)?.holders ?? [];
  const stream = () => `s#${s.id}`;
  const y = (label = 'y') => Tensor.allocate(t.device, [4], 'i32', { stream: s, label });
  const own = (what: string, owner: string, open = 1) => ({
    by: 'handle',
    count: 1,
    isOwn: true,
    isImported: false,
    object: { what, owner, open, views: [], stack: undefined },
  });

  test('a handle tells its objects and who ends them', () => {
    const tensor = y('weights');
    const [part, again] = [tensor.slice(0, 0, 2), tensor.view([2, 2])];
    expect(find('buffer', 'weights')).toMatchObject({
      bytes: 16,
      references: 1,
      holders: [own('buffer weights', 'user', 4)],
    });
    part.dispose();
    again.dispose();
    expect(holders('buffer', 'weights')).toMatchObject([own('buffer weights', 'user', 2)]);
    tensor.dispose();
    expect(find('buffer', 'weights')).toBeUndefined();
    expect(holders('stream', stream())).toMatchObject([own(`stream ${stream()}`, 'user')]);
    expect(holders('runtime')).toMatchObject([own(`the ${backend} runtime`, 'user')]);
    expect(holders('kernel', 'test_add')).toMatchObject([own('kernel test_add', 'runtime')]);
  });

  test('streams and memory tell the runtime, the pool, the workspace or the graph that ends them', () => {
    const main = t.runtime.currentStream();
    using pool = new StreamPool(t.device, 1, { name: 'lanes' });
    using workspace = new Workspace(t.device, { label: 'step', chunkBytes: 4096 });
    workspace.tensor([8], 'f32');
    using graph = t.device.createGraph();
    const { buffer } = graph.addAlloc(64, [], 'owned');
    const condition = graph.createCondition(1);
    expect(holders('stream', `main#${main.id}`)).toMatchObject([{ object: { owner: 'runtime' } }]);
    const lane = pool.next();
    expect(holders('stream', `${lane.name}#${lane.id}`)).toMatchObject([
      { object: { owner: 'pool' } },
    ]);
    expect(holders('buffer', 'step#0')).toMatchObject([{ object: { owner: 'workspace' } }]);
    const id = find('graph')?.id;
    expect(holders('buffer', 'owned')).toMatchObject([
      { by: 'graph', record: id, node: 0, operation: 'alloc', count: 1 },
      { by: 'handle', object: { owner: 'graph' } },
    ]);
    expect(holders('condition')).toMatchObject([
      { by: 'graph', record: id, count: 1 },
      { by: 'handle', object: { what: 'condition', owner: 'collector' } },
    ]);
    expect(condition.initial).toBe(1);
    buffer.dispose();
  });

  test('work in flight holds what it uses until it is over', async () => {
    const [a, b] = [y('a'), y('b')];
    const openGate = closeGate(t, s);
    accumulate(t, s, a);
    accumulate(t, s, a);
    s.copy(b, a);
    a.dispose();
    expect(holders('buffer', 'a')).toEqual([
      { by: 'work', operation: 'test_accumulate', stream: stream(), count: 2 },
      { by: 'work', operation: 'copy', stream: stream(), count: 1 },
    ]);
    expect(holders('buffer', 'b')).toMatchObject([
      { by: 'work', operation: 'copy' },
      own('buffer b', 'user', 2),
    ]);
    expect(holders('kernel', 'test_accumulate')).toContainEqual({
      by: 'work',
      operation: 'test_accumulate',
      stream: stream(),
      count: 2,
    });
    openGate();
    await s.synchronize();
    await expect.poll(() => find('buffer', 'a'), { timeout: 5000 }).toBeUndefined();
    expect(holders('buffer', 'b')).toMatchObject([own('buffer b', 'user', 2)]);
  });

  test('a capture, its graph, an executable and a launch hold one after the other', async () => {
    const memory = y();
    const event = t.device.createEvent();
    s.beginCapture();
    for (let node = 0; node < 3; node += 1) accumulate(t, s, memory);
    s.record(event);
    memory.dispose();
    const capture = find('capture');
    expect(capture).toMatchObject({ label: `${s.captureId} of ${stream()}` });
    expect(capture?.holders.map(({ by }) => by).sort()).toEqual(['event', 'stream']);
    const captured = find('graph');
    expect(captured?.holders).toEqual([{ by: 'capture', record: capture?.id, count: 1 }]);
    const graph = s.endCapture();
    const nodes = { by: 'graph', node: 0, operation: 'test_accumulate', count: 3 };
    expect(holders('buffer', 'y')).toEqual([{ ...nodes, record: captured?.id }]);
    expect(find('capture')).toBeUndefined();

    const exec = graph.instantiateSync();
    graph.dispose();
    const executable = find('graph executable');
    const flat = find('graph');
    expect(flat?.holders).toEqual([{ by: 'graph executable', record: executable?.id, count: 1 }]);
    expect(holders('buffer', 'y')).toEqual([{ ...nodes, record: flat?.id }]);

    const openGate = closeGate(t, s);
    exec.launch(s);
    exec.dispose();
    expect(holders('graph executable')).toEqual([
      { by: 'work', operation: 'graph', stream: stream(), count: 1 },
    ]);
    openGate();
    await s.synchronize();
    await expect.poll(() => find('buffer', 'y'), { timeout: 5000 }).toBeUndefined();
    expect([find('graph'), find('graph executable')]).toEqual([undefined, undefined]);
    event.dispose();
  });

  test('bodies, children and host functions hold their parts', async () => {
    const host = await t.device.allocHost(8);
    using graph = t.device.createGraph();
    using child = t.device.createGraph();
    child.addHost(t.module.callback('test_host_count', { calls: host, microseconds: 0, step: 1 }));
    graph.addChild(child);
    const function_ = find('host function', 'test_host_count');
    expect(function_?.holders.map(({ by }) => by).sort()).toEqual(['graph', 'graph', 'handle']);
    expect(holders('host buffer')).toContainEqual({
      by: 'host function',
      record: function_?.id,
      count: 1,
    });
    expect(holders('module')).toContainEqual({
      by: 'host function',
      record: function_?.id,
      count: 1,
    });
    const ids = t.runtime.audit().filter(({ kind }) => kind === 'graph');
    const holdersOfCopy = ids.flatMap((one) => one.holders).filter(({ by }) => by === 'graph');
    expect(holdersOfCopy).toMatchObject([{ node: 0, operation: 'child', count: 1 }]);
    host.dispose();
  });

  test('a token and what was imported by it hold', () => {
    using buffer = t.device.alloc(64, { stream: s, label: 'shared' });
    const token = exportHandle(buffer);
    expect(holders('buffer', 'shared')).toMatchObject([
      own('buffer shared', 'user'),
      { by: 'export', isOwn: true, count: 1 },
    ]);
    const imported = importHandle(token, 'buffer');
    expect(holders('buffer', 'shared')).toMatchObject([
      own('buffer shared', 'user'),
      { ...own('buffer shared', 'user'), isImported: true },
    ]);
    imported.dispose();
    expect(holders('buffer', 'shared')).toMatchObject([own('buffer shared', 'user')]);
  });

  test('the array of a host buffer holds it until it is detached', async () => {
    const host = t.device.allocHostSync(256);
    expect(find('host buffer')).toMatchObject({ bytes: 256, label: 'host' });
    expect(holders('host buffer').map(({ by }) => by)).toEqual(['handle', 'array']);
    const openGate = closeGate(t, s);
    using memory = t.device.alloc(256, { stream: s });
    s.copy(memory, host);
    host.dispose();
    expect(holders('host buffer')).toEqual([
      { by: 'work', operation: 'copy', stream: stream(), count: 1 },
    ]);
    openGate();
    await s.synchronize();
  });

  test('what is made beside the event loop is held until it is told', async () => {
    using graph = t.device.createGraph();
    graph.addEmpty();
    const id = find('graph')?.id;
    const isHeld = () =>
      t.runtime
        .audit()
        .filter((one) => one.id === id)
        .some((one) => one.holders.some(({ by }) => by === 'instantiation'));
    const making = graph.instantiate();
    expect(isHeld()).toBe(true);
    // This loop holds up the event loop, so that the promise cannot be settled meanwhile.
    const end = performance.now() + 10_000;
    const isMade = () => holders('graph executable').some(({ by }) => by === 'promise');
    while (!isMade() && performance.now() < end);
    expect(isMade()).toBe(true);
    const exec = await making;
    expect(holders('graph executable')).toMatchObject([own('graph executable', 'user')]);
    expect(isHeld()).toBe(false);
    exec.dispose();
  });

  test('a file belongs to no runtime and is listed by each', async () => {
    const path = join(tmpdir(), `audit-${process.pid}-${backend}`);
    writeFileSync(path, 'text');
    using file = await MappedFile.open(path);
    expect(holders('file', path)).toMatchObject([own(`file ${path}`, 'user')]);
    expect(file.bytes).toBe(4);
    file.dispose();
    expect(find('file', path)).toBeUndefined();
  });

  test('copies of a graph that a trace makes are held by their executable', async () => {
    using graph = t.device.capture(() => accumulate(t, s, zeros(t, s, 4)), { stream: s });
    using exec = graph.instantiateSync();
    await s.synchronize();
    t.runtime.trace.start({ source: 'events' });
    exec.launch(s);
    const copies = () =>
      t.runtime
        .audit()
        .filter((one) => one.kind === 'graph executable')
        .flatMap((one) => one.holders)
        .filter(({ by }) => by === 'trace' || by === 'graph executable');
    expect(copies()).toMatchObject([
      { by: 'graph executable', operation: 'traced copy', count: 1 },
      { by: 'trace', count: 1 },
    ]);
    await s.synchronize();
    t.runtime.trace.stop();
    expect(copies()).toMatchObject([{ operation: 'traced copy' }]);
  });

  test('with CRT_WARN_LEAKS=1 a handle tells its views and where it was made', async () => {
    vi.stubEnv('CRT_WARN_LEAKS', '1');
    const warned = await openTestRuntime({ backend });
    const tensor = Tensor.allocate(warned.device, [4], 'i32', { label: 'seen' });
    const view = tensor.slice(0, 0, 2);
    const record = warned.runtime.audit().find(({ label }) => label === 'seen');
    expect(record?.holders).toMatchObject([
      { object: { open: 3, views: ['i32 [2]'], stack: expect.stringContaining('audit.test') } },
    ]);
    for (const object of [view, tensor]) object.dispose();
    await warned.runtime.dispose();
    vi.unstubAllEnvs();
    await (await open({ backend, isolated: true })).dispose(); // reads the variable again
  });

  test('an audit shows records of its own runtime only, and none behind the end', async () => {
    const other = await openTestRuntime({ backend });
    using foreign = other.device.alloc(64, { label: 'foreign' });
    expect(find('buffer', 'foreign')).toBeUndefined();
    expect(other.runtime.audit().find(({ label }) => label === 'foreign')?.bytes).toBe(64);
    foreign.dispose();
    await other.runtime.dispose();
    expect(() => other.runtime.audit()).toThrow(DisposedError);
  });

  test('a test that finds something left says what holds it', async () => {
    const before = liveOf(t);
    using left = t.device.alloc(64, { stream: s, label: 'forgotten' });
    const told = expectLive(t, before, 1);
    await expect(told).rejects.toThrow(
      /^left behind: 1 × buffer; .*\n#\d+ buffer forgotten, 64 bytes, 1 references, held by 1 × handle/,
    );
    expect(left.isDisposed).toBe(false);
  });

  test('when users have disposed all that they had, nothing of theirs is left', async () => {
    const [memory, event] = [y(), s.record()];
    const graph = t.device.capture(() => accumulate(t, s, memory), { stream: s });
    const exec = graph.instantiateSync();
    exec.launch(s);
    for (const object of [memory, event, graph, exec, s]) object.dispose();
    await t.device.synchronize();
    const theirs = () =>
      t.runtime
        .audit()
        .filter(({ kind }) => !['runtime', 'module', 'kernel', 'file'].includes(kind))
        .map(({ kind, label }) => `${kind} ${label}`);
    await expect.poll(theirs, { timeout: 5000 }).toEqual([]);
  });
});
