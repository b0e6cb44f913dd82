import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { open } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { expectLive } from '../makers/live-objects.js';
import { SecondThread } from '../makers/second-thread.js';
import {
  accumulate,
  readInts,
  spin,
  type TestRuntime,
  testRuntimeOf,
  zeros,
} from '../makers/test-kernels.js';

// What the threads open: options that no other test uses.
const options = { strictEvents: true } as const;

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await testRuntimeOf(await open({ backend, ...options }));
  });
  afterEach(() => t.runtime.dispose());

  /** What lives natively in the runtime, once what was in flight is over. */
  const isEmptyAgain = async (before: Readonly<Record<string, number>>) => {
    await t.device.synchronize();
    await expectLive(t, before);
    expect(t.runtime.stats().live).toEqual(before);
  };
  const start = () => new SecondThread(backend, options);

  test('#45, T2: 50 threads start and are terminated with streams, graphs, captures and waits', async () => {
    const stream = t.device.createStream();
    const y = zeros(t, stream, 2);
    await stream.synchronize();
    const before = t.runtime.stats().live;
    for (let round = 0; round < 10; round += 1) {
      const threads = Array.from({ length: 5 }, start);
      await Promise.all(threads.map((thread) => thread.get('possess', 4)));
      await Promise.all(threads.map((thread) => thread.terminate()));
      accumulate(t, stream, y, 1, 1);
    }
    expect(await readInts(stream, y)).toEqual([10, 10]);
    await isEmptyAgain(before);
    for (const object of [stream, y]) object.dispose();
  });

  test('#46: a thread that throws with live handles ends alone', async () => {
    const before = t.runtime.stats().live;
    const thread = start();
    const failed = once(thread.worker, 'error');
    void thread.call('throw');
    expect(String((await failed)[0])).toMatch(/ends with live handles/);
    await isEmptyAgain(before);
  });

  test('#48, T7: a thread is terminated with 100 pending synchronize', async () => {
    const before = t.runtime.stats().live;
    const thread = start();
    await thread.get('possess', 100);
    await thread.terminate();
    await isEmptyAgain(before);
  });

  test('#50: a thread ends, and waits of this one still resolve', async () => {
    const before = t.runtime.stats().live;
    const stream = t.device.createStream();
    const thread = start();
    await thread.get('possess', 2);
    const flag = spin(t, stream, 150);
    const told = new Promise<void>((resolve) => stream.notify(resolve));
    const event = stream.record();
    const waits = [stream.synchronize(), event.done(), told];
    await thread.terminate();
    await Promise.all(waits);
    for (const object of [event, flag, stream]) object.dispose();
    await isEmptyAgain(before);
  });

  test('#53, T8: pending promises hold a thread, a notification does not', async () => {
    const before = t.runtime.stats().live;
    const thread = start();
    const stream = await thread.get('stream');
    await thread.get('spin', stream, 100);
    await thread.get('notify', stream, 1_000_000);
    expect(await thread.quit()).toBe(0);
    const waiting = start();
    const busy = await waiting.get('stream');
    await waiting.get('spin', busy, 150);
    const began = performance.now();
    void waiting.call('wait', busy);
    expect(await waiting.quit()).toBe(0);
    expect(performance.now() - began).toBeGreaterThan(100);
    await isEmptyAgain(before);
  });

  test('#53, T6: pinned memory goes with its thread, under a copy that is pending', async () => {
    const before = t.runtime.stats().live;
    const thread = start();
    const stream = await thread.get('stream');
    const host = await thread.get('allocHost', await thread.get('runtime'), 1024, 1024);
    const memory = await thread.get('alloc', stream, 1024, '');
    await thread.get('spin', stream, 100);
    await thread.get('copy', stream, memory, 0, host, 0, 1024);
    await thread.get('release', host);
    await thread.terminate();
    await isEmptyAgain(before);
  });

  test('T4: a thread that is terminated within a capture leaves its streams free', async () => {
    const stream = t.device.createStream();
    const thread = start();
    const theirs = await thread.import(stream);
    await thread.get('beginCapture', theirs, 0);
    expect(stream.captureStatus).toBe('active');
    await thread.terminate();
    expect(stream.captureStatus).toBe('none');
    t.device.capture(() => accumulate(t, stream, zeros(t, stream, 1)), { stream }).dispose();
    stream.dispose();
  });
});
