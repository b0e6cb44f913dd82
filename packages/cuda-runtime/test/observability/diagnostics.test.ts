import { execFile } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { Completions } from '../../src/native/completions.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  afterEach(() => t.runtime.dispose());

  test('guards are counted by rule and published; captures are published', async () => {
    t = await openTestRuntime({ backend });
    const main = t.device.createStream({ name: 'main' });
    const heard: unknown[] = [];
    const listen = (message: unknown) => void heard.push(message);
    for (const name of ['guard', 'capture']) channel(`cuda-runtime:${name}`).subscribe(listen);
    main.beginCapture();
    const id = main.captureId;
    expect(() => main.isIdle()).toThrow('querying a stream is not possible');
    expect(() => main.isIdle()).toThrow();
    expect(() => t.device.synchronizeSync()).toThrow();
    main.endCapture().dispose();
    for (const name of ['guard', 'capture']) channel(`cuda-runtime:${name}`).unsubscribe(listen);
    const stream = `main#${main.id}`;
    const guard = { code: 'CRT_CAPTURE_UNSUPPORTED', captureId: id };
    expect(heard).toMatchObject([
      { phase: 'begin', stream, captureId: id },
      { ...guard, rule: 'CU01', api: 'stream.isIdle', stream },
      { ...guard, rule: 'CU01' },
      { ...guard, rule: 'CU02', api: 'device.synchronizeSync' },
      { phase: 'end', stream, captureId: id },
    ]);
    expect(t.runtime.stats()).toMatchObject({
      guardRefusals: { CU01: 2, CU02: 1 },
      updateFailures: {},
      droppedNotifications: 0,
      replays: 0,
    });
  });

  test('refused updates are counted by their result', async () => {
    t = await openTestRuntime({ backend });
    const stream = t.runtime.currentStream();
    const buffer = t.device.alloc(4);
    const fills = (count: number) =>
      t.device.capture(
        () => {
          for (let left = count; left > 0; left -= 1) stream.fill(buffer, 1);
        },
        { stream },
      );
    const exec = fills(2).instantiateSync();
    expect(exec.update(fills(2)).ok).toBe(true);
    for (const count of [1, 3]) expect(exec.update(fills(count)).result).toBe(2);
    expect(t.runtime.stats().updateFailures).toEqual({ 2: 2 });
  });

  test('counters of threads are there where the backend has the threads', async () => {
    t = await openTestRuntime({ backend });
    await t.runtime.currentStream().synchronize();
    const { reaperQueue, waiterLatency, executorThreads } = t.runtime.stats();
    if (backend === 'cpu') {
      expect([reaperQueue, waiterLatency]).toEqual([undefined, undefined]);
      expect(executorThreads).toBeGreaterThan(0);
      return;
    }
    expect(reaperQueue).toBeGreaterThanOrEqual(0);
    expect(waiterLatency?.counts).toHaveLength((waiterLatency?.boundsUs.length ?? 0) + 1);
    expect(waiterLatency?.counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

test('L3: a forgotten object is published, and warned of with label and creation stack', async () => {
  const script = `
    import { channel } from 'node:diagnostics_channel';
    import { open } from './src/index.ts';
    channel('cuda-runtime:leak').subscribe(({ what, stack }) => {
      console.log('published', what, typeof stack);
    });
    process.on('warning', ({ name, code, message, detail }) => {
      console.log('warned', name, code, message, detail.includes('forget'));
      clearInterval(timer);
    });
    const runtime = await open({ backend: 'cpu' });
    function forget() {
      runtime.device().alloc(64, { label: 'weights' });
    }
    forget();
    const timer = setInterval(() => gc(), 5);
  `;
  const options = ['--expose-gc', '--import', 'tsx', '--conditions=@altstream/source'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...options, '--input-type=module', '--eval', script],
    {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { ...process.env, CRT_WARN_LEAKS: '1', NODE_NO_WARNINGS: '1' },
      timeout: 30_000,
    },
  );
  expect(stdout).toBe(
    'published buffer weights string\n' +
      'warned CudaRuntimeLeak CRT_LEAK buffer weights was collected undisposed true\n',
  );
});

test('a lost device is published for each call that meets it, and a dropped notification is counted', () => {
  const heard: unknown[] = [];
  const listen = (message: unknown) => void heard.push(message);
  channel('cuda-runtime:deviceLost').subscribe(listen);
  const completions = new Completions(() => undefined);
  const fault = { code: 'CRT_DEVICE_LOST', api: 'stream.notify', number: 700, detail: 'lost' };
  const called: string[] = [];
  const drops = { dropped: 0 };
  const token = completions.notify(() => called.push('called'), drops);
  completions.handle(token, JSON.stringify({ ...fault, hint: '', stream: '', captureId: '0' }));
  completions.handle(token, '');
  channel('cuda-runtime:deviceLost').unsubscribe(listen);
  expect(heard).toEqual([{ api: 'stream.notify', number: 700, detail: 'lost' }]);
  expect(called).toEqual([]);
  expect([drops.dropped, completions.dropped]).toEqual([1, 1]);
});
