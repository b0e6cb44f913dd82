import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DeviceLostError, open, type Runtime } from '../../src/index.js';
import { environment } from '../../src/native/environment.js';
import { injectFaults } from '../../src/testing/index.js';
import { accumulate, spin, testRuntimeOf, zeros } from '../makers/test-kernels.js';

// What the addon posts when the device is lost.
const fault = JSON.stringify({
  code: 'CRT_DEVICE_LOST',
  api: 'runtime.onDeviceLost',
  number: 700,
  detail: 'the device is lost',
  hint: 'Restart the process',
  stream: '',
  captureId: '0',
});

let runtime: Runtime;
beforeEach(async () => {
  runtime = await open({ backend: 'cpu', isolated: true });
});
afterEach(() => runtime.dispose());

/** Adds listeners and gives the token that the addon would post. */
function tokenOf(listen: () => void): number {
  const watch = vi.spyOn(environment().completions, 'watch');
  listen();
  const [result] = watch.mock.results;
  watch.mockRestore();
  return Number(result?.value);
}

test('every listener is told once, also one that comes later', async () => {
  const told: string[] = [];
  const listener = (name: string) => (error: DeviceLostError) =>
    void told.push(`${name} ${error.code} ${error.cuda?.number}`);
  const token = tokenOf(() => {
    runtime.onDeviceLost(listener('first'));
    runtime.onDeviceLost(listener('second'));
    runtime.onDeviceLost(listener('removed'))();
  });
  const { completions } = environment();
  const dropped = completions.dropped;
  completions.handle(token, fault);
  completions.handle(token, fault);
  expect(told).toEqual([]);
  await Promise.resolve();
  runtime.onDeviceLost(listener('late'));
  await Promise.resolve();
  expect(told).toEqual(['first', 'second', 'late'].map((name) => `${name} CRT_DEVICE_LOST 700`));
  expect(completions.dropped).toBe(dropped + 1);
});

test('a disposed runtime tells nobody', async () => {
  const told = vi.fn();
  const token = tokenOf(() => runtime.onDeviceLost(told));
  await runtime.dispose();
  environment().completions.handle(token, fault);
  await Promise.resolve();
  expect(told).not.toHaveBeenCalled();
  expect(() => runtime.onDeviceLost(told)).toThrow(/disposed/);
});

test('a listener that is none is refused', () => {
  expect(() => runtime.onDeviceLost(5 as never)).toThrow(/`listener` is 5, expected a function/);
});

test('a kernel that loses the device: the listener is told, waits reject, notifications drop', async () => {
  const t = await testRuntimeOf(runtime);
  const stream = t.device.createStream();
  const y = zeros(t, stream, 4);
  await stream.synchronize();
  const dropped = runtime.stats().droppedNotifications;
  injectFaults(runtime).failKernel('test_accumulate', 700);
  const told = new Promise<DeviceLostError>((resolve) => runtime.onDeviceLost(resolve));
  const busy = spin(t, stream, 50); // all is submitted before the device is lost
  accumulate(t, stream, y);
  stream.notify(() => expect.unreachable());
  const failed = await stream.synchronize().catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(DeviceLostError);
  expect(await told).toMatchObject({ code: 'CRT_DEVICE_LOST', cuda: { number: 700 } });
  expect(() => accumulate(t, stream, y)).toThrow(DeviceLostError);
  await expect.poll(() => runtime.stats().droppedNotifications).toBe(dropped + 1);
  for (const object of [busy, y, stream]) object.dispose();
});
