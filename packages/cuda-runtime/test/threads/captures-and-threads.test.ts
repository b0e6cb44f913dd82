import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CaptureError, open, type Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { kernelsOverlap } from '../makers/kernels-overlap.js';
import { SecondThread } from '../makers/second-thread.js';
import {
  accumulate,
  readInts,
  spin,
  type TestRuntime,
  testRuntimeOf,
  zeros,
} from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let stream: Stream;
  let other: SecondThread;
  beforeEach(async () => {
    t = await testRuntimeOf(await open({ backend }));
    stream = t.device.createStream({ name: 'captured' });
    other = new SecondThread(backend, {});
  });
  afterEach(async () => {
    await other.terminate();
    stream.dispose();
    await t.runtime.dispose();
  });

  test('#16, CT01: by default what other threads do leaves a capture alone', async () => {
    const theirs = await other.get('stream');
    stream.beginCapture();
    accumulate(t, stream, zeros(t, stream, 4));
    const memory = await other.get('alloc', theirs, 1 << 20, '');
    await other.get('fill', theirs, memory, 0, 1, 64);
    const event = await other.get('event');
    await other.get('eventRecord', event, theirs, false);
    await other.get('eventQuery', event);
    await other.get('streamSynchronizeSync', theirs, -1);
    await other.get('allocHost', await other.get('runtime'), 64, 64);
    await other.get('release', memory);
    const graph = stream.endCapture();
    expect(graph.nodes.map(({ kind }) => kind)).toEqual(['fill', 'kernel']);
  });

  test('#17, CT02: a device synchronise elsewhere is refused, and the capture is good', async () => {
    const y = zeros(t, stream, 1);
    for (const mode of ['thread_local', 'global', 'relaxed'] as const) {
      stream.beginCapture({ mode });
      accumulate(t, stream, y);
      const { number, result } = await other.call('deviceSynchronize');
      expect([number, result]).toEqual([900, 'CRT_CAPTURE_UNSUPPORTED']);
      expect(stream.captureStatus).toBe('active');
      stream.endCapture().instantiateSync().launch(stream).dispose();
    }
    expect(await readInts(stream, y)).toEqual([3]);
    await other.get('deviceSynchronize');
  });

  test('another thread may discard a capture, but not end it', async () => {
    const theirs = await other.import(stream);
    stream.beginCapture();
    accumulate(t, stream, zeros(t, stream, 1));
    await other.get('abortCapture', theirs);
    expect(stream.captureStatus).toBe('none');
    expect(() => stream.endCapture()).toThrow(CaptureError);
    stream.beginCapture();
    expect((await other.call('endCapture', theirs)).number).toBe(908);
    if (stream.captureStatus !== 'none') stream.abortCapture();
  });

  test('#18, CT03: the threads of the runtime poll through 1000 captures', async () => {
    const busy = t.device.createStream();
    const y = zeros(t, stream, 1);
    await stream.synchronize();
    for (let round = 0; round < 1000; round += 1) {
      if (round % 100 === 0) spin(t, busy, 30);
      const waits = round % 100 === 0 ? [busy.synchronize(), busy.record().done()] : [];
      stream.beginCapture({ mode: 'global' });
      accumulate(t, stream, y);
      if (round % 100 === 50) await delay(1);
      const graph = stream.endCapture();
      expect(graph.nodes.length).toBe(1);
      graph.dispose();
      await Promise.all(waits);
    }
    busy.dispose();
  });

  test('#35: a collection within a capture harms it not', async () => {
    const before = t.runtime.stats().live['graph'] ?? 0;
    const litter = async () => {
      for (let count = 0; count < 20; count += 1) {
        const graph = t.device.capture(() => accumulate(t, stream, zeros(t, stream, 1)), {
          stream,
        });
        (await graph.instantiate()).launch(stream);
        t.device.createStream().record();
        t.device.alloc(1024, { stream });
        await t.device.allocHost(1024);
        await t.runtime.loadModule({
          manifest: t.module.manifest.replace('/man', `/./${'./'.repeat(count)}man`),
        });
      }
    };
    await litter();
    stream.beginCapture({ mode: 'global' });
    const y = zeros(t, stream, 1);
    for (let round = 0; round < 20; round += 1) {
      globalThis.gc?.();
      accumulate(t, stream, y, 1, 1);
      await delay(5); // finalizers run between two turns of the event loop
    }
    const graph = stream.endCapture();
    expect(t.runtime.stats().live['graph']).toBeLessThan(before + 20);
    graph.instantiateSync().launch(stream);
    expect(await readInts(stream, y)).toEqual([20]);
  });

  test('#36, CT03: objects of every kind may go while another thread captures', async () => {
    const theirs = await other.get('stream');
    const memory = await other.get('alloc', theirs, 64, '');
    const make = async () => {
      const graph = t.device.capture(() => accumulate(t, stream, zeros(t, stream, 1)), { stream });
      const exec = graph.instantiateSync().launch(stream);
      const event = stream.record();
      const host = await t.device.allocHost(64);
      await stream.synchronize();
      return [exec, graph, event, host, t.device.createStream(), t.device.alloc(64)];
    };
    const objects = await make();
    await other.get('beginCapture', theirs, 0);
    for (const object of objects) object.dispose();
    await delay(20);
    await other.get('fill', theirs, memory, 0, 1, 64);
    expect(await other.get('end', theirs)).toBe('ok 1/0');
  });

  test('#44, CB15: two threads capture and launch 500 times each', async () => {
    const third = new SecondThread(backend, {});
    const counts = [other.get('captures', 500), third.get('captures', 500)];
    expect(await Promise.all(counts)).toEqual([500, 500]);
    await third.terminate();
  });

  test('T3: two threads launch one executable, whose parameters change meanwhile', async () => {
    const y = zeros(t, stream, 1);
    const config = { grid: [1], block: [256] } as const;
    const params = (x: number) => ({ y, count: 1, factor: 1, x });
    const graph = t.device.createGraph();
    const node = graph.addKernel(t.kernels.accumulate, config, params(1));
    const exec = graph.instantiateSync();
    const [theirExec, theirs] = [await other.import(exec), await other.import(stream)];
    const launches = other.get('launches', theirExec, theirs, 200);
    for (let index = 0; index < 200; index += 1) {
      exec.launch(stream);
      exec.setKernel(node, t.kernels.accumulate, config, params(1 + ((index + 1) % 2) * 1000));
    }
    expect(await launches).toBe(200);
    // Ours were as often 1 as 1001; each of theirs is one of both, and nothing else.
    const [sum = 0] = await readInts(stream, y);
    const theirSum = sum - 100 * 1 - 100 * 1001;
    expect(theirSum % 1000).toBe(200);
    expect(theirSum).toBeGreaterThanOrEqual(200);
    expect(theirSum).toBeLessThanOrEqual(200 * 1001);
    for (const object of [exec, graph, y]) object.dispose();
  });

  test('L16: a module lives as long as its kernel, a graph or a launch', async () => {
    const live = () => t.runtime.stats().live['module'] ?? 0;
    const before = live();
    const release = (handle: number) => other.get('release', handle);
    const [theirs, module] = [await other.get('stream'), await other.get('load')];
    const kernel = await other.get('moduleKernel', module, 'test_spin');
    await release(module);
    expect(live()).toBe(before + 1);
    await other.get('beginCapture', theirs, 1);
    await other.get('spin', theirs, 300, kernel);
    const graph = await other.get('endCapture', theirs);
    await release(kernel);
    const exec = await other.get('instantiate', graph);
    await release(graph);
    expect(live()).toBe(before + 1);
    await other.get('graphLaunch', exec, theirs);
    await release(exec);
    if (kernelsOverlap) expect(live()).toBe(before + 1); // else the launch may be over
    await other.get('wait', theirs);
    await expect.poll(live).toBe(before);
  });

  test('CB15: two threads capture globally at once', async () => {
    const theirs = await other.get('stream');
    const memory = await other.get('alloc', theirs, 64, '');
    stream.beginCapture({ mode: 'global' });
    await other.get('beginCapture', theirs, 0);
    await other.get('fill', theirs, memory, 0, 1, 64);
    accumulate(t, stream, zeros(t, stream, 1));
    expect(await other.get('end', theirs)).toBe('ok 1/0');
    expect(stream.endCapture().nodes.length).toBe(2);
  });

  test('CB11, CB14: no other thread ends a capture or begins one on its stream', async () => {
    const theirs = await other.import(stream);
    for (const mode of ['global', 'thread_local'] as const) {
      stream.beginCapture({ mode });
      expect((await other.call('endCapture', theirs)).number).toBe(908);
      expect((await other.call('beginCapture', theirs, 1)).number).toBe(401);
      expect(stream.captureStatus).toBe('active');
      expect(stream.endCapture().nodes).toEqual([]);
    }
  });

  test('CB12: another thread may end a relaxed capture', async () => {
    const theirs = await other.import(stream);
    stream.beginCapture({ mode: 'relaxed' });
    expect(await other.get('end', theirs)).toBe('ok 0/0');
    expect(stream.captureStatus).toBe('none');
    expect(() => stream.endCapture()).toThrow(CaptureError);
  });

  test('CT06: what another thread submits to a captured stream becomes nodes', async () => {
    const theirs = await other.import(stream);
    const buffer = t.device.alloc(64);
    const memory = await other.import(buffer);
    const own = await other.get('stream');
    stream.beginCapture();
    await other.get('fill', theirs, memory, 0, 1, 64);
    await other.get('streamWaitStream', own, theirs);
    await other.get('fill', own, memory, 0, 2, 64);
    await other.get('streamWaitStream', theirs, own);
    const graph = stream.endCapture();
    expect([graph.nodes.length, graph.edges.length]).toEqual([2, 1]);
    graph.instantiateSync().launch(stream);
    const bytes = new Uint8Array(64);
    await stream.read(buffer, bytes);
    expect(new Set(bytes)).toEqual(new Set([2]));
  });

  test('#43: a blocking wait ends before the notifications that come to the event loop', async () => {
    let told = 0;
    for (let count = 0; count < 10; count += 1) stream.notify(() => told++);
    spin(t, stream, 5);
    stream.notify(() => told++);
    stream.synchronizeSync({ timeoutMs: 10_000 });
    expect(told).toBe(0);
    await expect.poll(() => told).toBe(11);
  });
});
