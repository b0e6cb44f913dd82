import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportHandle, open } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { startWorker } from '../makers/start-worker.js';
import { spin, type TestRuntime, testRuntimeOf } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await testRuntimeOf(await open({ backend }));
  });
  afterAll(() => t.runtime.dispose());

  test.each(['promise', 'Sync'] as const)(
    'device.synchronize (%s) covers what a worker submitted to a stream of its own',
    async (how) => {
      const stream = t.device.createStream();
      const flag = t.device.alloc(4, { stream });
      stream.fill(flag, 0);
      await stream.synchronize();
      const token = exportHandle(flag);
      const worker = startWorker('threads/busy-worker.ts', { backend, token, milliseconds: 400 });
      await once(worker, 'message');
      // Submitted there, and not awaited by anybody.
      if (how === 'Sync') t.device.synchronizeSync();
      else await t.device.synchronize();
      const value = new Int32Array(1);
      await stream.read(flag, value);
      expect(value[0]).toBe(1);
      worker.postMessage('end');
      await once(worker, 'exit');
      flag.dispose();
      stream.dispose();
    },
  );

  test('the capture of another thread neither refuses it nor is harmed', async () => {
    const worker = startWorker('threads/capturing-worker.ts', { backend });
    await once(worker, 'message');
    const stream = t.device.createStream();
    const done = spin(t, stream, 50);
    await t.device.synchronize();
    const value = new Int32Array(1);
    await stream.read(done, value);
    expect(value[0]).toBe(1);
    expect(() => t.device.synchronizeSync()).toThrow(/would break the capture/);
    worker.postMessage('end');
    expect((await once(worker, 'message'))[0]).toBe('active 1');
    await once(worker, 'exit');
    for (const object of [done, stream]) object.dispose();
  });

  test('it covers a stream whose wrapper is disposed with work pending', async () => {
    const stream = t.device.createStream();
    const done = spin(t, stream, 100);
    stream.dispose();
    await t.device.synchronize();
    const value = new Int32Array(1);
    await t.runtime.currentStream().read(done, value);
    expect(value[0]).toBe(1);
    done.dispose();
  });

  test('an abort gives up the wait; during a capture it is refused and the capture goes on', async () => {
    const stream = t.device.createStream();
    spin(t, stream, 100);
    const gone = t.device.synchronize({ signal: AbortSignal.timeout(1) });
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
    await t.device.synchronize();
    stream.beginCapture();
    await expect(t.device.synchronize()).rejects.toMatchObject({
      code: 'CRT_CAPTURE_UNSUPPORTED',
      cuda: { number: 900 },
    });
    expect(stream.captureStatus).toBe('active');
    stream.endCapture().dispose();
    stream.dispose();
  });
});
