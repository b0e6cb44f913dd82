import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  exportHandle,
  importHandle,
  KernelLibrary,
  open,
  type Runtime,
  StreamPool,
  Workspace,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { startWorker } from '../makers/start-worker.js';
import {
  accumulate,
  readInts,
  type TestRuntime,
  testRuntimeOf,
  zeros,
} from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await testRuntimeOf(await open({ backend }));
  });
  afterAll(() => t.runtime.dispose());

  test('T1: a worker gets wrappers of its own for the same native objects', async () => {
    const stream = t.device.createStream({ name: 'shared' });
    using buffer = t.device.alloc(16, { stream, label: 'numbers' });
    stream.write(buffer, new Int32Array([5, 6, 7, 8]));
    const event = stream.record(t.device.createEvent({ timing: true }));
    const y = zeros(t, stream, 4);
    await stream.synchronize();
    using graph = t.device.capture(
      () => {
        accumulate(t, stream, y, 1, 2);
        stream.copy(buffer, y);
      },
      { stream },
    );
    using exec = graph.instantiateSync();
    const tokens = {
      buffer: exportHandle(buffer),
      event: exportHandle(event),
      stream: exportHandle(stream),
      graphExec: exportHandle(exec),
    };
    const worker = startWorker('threads/importer.ts', { backend, tokens });
    const exit = once(worker, 'exit');
    expect((await once(worker, 'message'))[0]).toEqual({
      early: 'CRT_BACKEND_MISMATCH',
      wrong: 'CRT_ARGUMENT',
      again: 'CRT_DISPOSED',
      values: [2, 2, 2, 2],
      label: 'numbers',
      name: 'shared',
      id: stream.id,
      timing: true,
      launches: 1,
    });
    expect((await exit)[0]).toBe(0);
    // The worker's end took its references, not ours.
    expect(exec.launches).toBe(1);
    exec.launch(stream);
    expect(await readInts(stream, y)).toEqual([4, 4, 4, 4]);
    expect(event.isDone()).toBe(true);
    for (const object of [event, stream, y]) object.dispose();
  });

  test('a wrapper of a captured stream may go while another one captures', () => {
    const stream = t.device.createStream();
    stream.beginCapture();
    importHandle(exportHandle(stream), 'stream').dispose();
    expect(stream.captureStatus).toBe('active');
    stream.endCapture().dispose();
    stream.beginCapture();
    const second = importHandle(exportHandle(stream), 'stream');
    stream.dispose();
    expect(second.captureStatus).toBe('active');
    second.abortCapture();
    second.dispose();
  });

  test('a token keeps its object alive, and is refused once used, misread or made up', () => {
    const before = t.runtime.stats().live['buffer'] ?? 0;
    const buffer = t.device.alloc(8);
    const token = exportHandle(buffer);
    buffer.dispose();
    expect(t.runtime.stats().live['buffer']).toBe(before + 1);
    expect(() => importHandle(token, 'stream')).toThrow(/is of kind buffer, expected stream/);
    importHandle(token, 'buffer').dispose();
    expect(t.runtime.stats().live['buffer']).toBe(before);
    expect(() => importHandle(token)).toThrow(/no exported object has this token/);
    expect(() => importHandle('crt-0')).toThrow(/no exported object has this token/);
    expect(() => importHandle(7 as unknown as string)).toThrow(/`token` is 7, expected text/);
    expect(() => importHandle(token, 'kernel' as unknown as 'event')).toThrow(/`kind` is/);
  });

  test('what cannot be shared is refused by name', async () => {
    const values = [t.runtime, t.device, t.kernels.spin, await t.device.allocHost(4), {}, null];
    for (const value of values) {
      expect(() => exportHandle(value as never)).toThrow(/expected a device buffer, event/);
    }
    const buffer = t.device.alloc(8);
    buffer.dispose();
    expect(() => exportHandle(buffer)).toThrow(/is disposed/);
  });

  test('an isolated runtime stays in its thread: the error says so', async () => {
    const isolated = await open({ backend, isolated: true });
    const token = exportHandle(isolated.device().alloc(8));
    expect(importHandle(token, 'buffer').device).toBe(isolated.device());
    const other = exportHandle(isolated.device().alloc(8));
    await isolated.dispose();
    expect(() => importHandle(other)).toThrow(/runtime that this thread has not opened/);
  });

  describe('T1: structured clone fails', () => {
    test('with a DataCloneError, for every kind of wrapper', async () => {
      const { port1, port2 } = new MessageChannel();
      const stream = t.device.createStream();
      const graph = t.device.capture(() => undefined, { stream });
      const calls = await t.device.allocHost(64);
      const wrappers: Readonly<Record<string, object>> = {
        runtime: t.runtime satisfies Runtime,
        device: t.device,
        module: t.module,
        kernel: t.kernels.spin,
        stream,
        graph,
        exec: graph.instantiateSync(),
        event: stream.record(),
        buffer: t.device.alloc(8),
        host: await t.device.allocHost(8),
        tensor: zeros(t, stream, 2),
        workspace: new Workspace(t.device),
        pool: new StreamPool(t.device, 1),
        condition: t.device.createGraph().createCondition(),
        trace: t.runtime.trace,
        streams: t.runtime.streams,
        callback: t.module.callback('test_host_count', { calls, microseconds: 0n, step: 1 }),
        library: new KernelLibrary({
          package: 'x',
          from: 'file:///x',
          notLoaded: () => new Error(),
        }),
      };
      for (const [name, wrapper] of Object.entries(wrappers)) {
        const clone = () => structuredClone(wrapper);
        expect(clone, name).toThrow(expect.objectContaining({ name: 'DataCloneError' }));
        expect(() => port1.postMessage({ wrapper }), name).toThrow(/exportHandle\(object\)/);
      }
      port1.close();
      port2.close();
    });
  });
});
