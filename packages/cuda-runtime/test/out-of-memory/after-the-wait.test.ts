import { expect, test } from 'vitest';
import { openTestRuntime, spin } from '../makers/test-kernels.js';

// Most of the device: it fits again only when the one before it is gone.
const bytes = 768 * 1024;

test.each(['synchronizeSync', 'synchronize', 'waitSync', 'done'] as const)(
  'memory that is disposed after %s is free at once',
  async (call) => {
    const { runtime, device } = await openTestRuntime({ cpu: { limitBytes: 1024 * 1024 } });
    const stream = device.createStream();
    for (let round = 0; round < 3000; round += 1) {
      const buffer = device.alloc(bytes, { stream });
      stream.fill(buffer, 7);
      if (call === 'synchronize' || call === 'synchronizeSync') await stream[call]();
      else {
        using event = stream.record();
        await event[call]();
      }
      buffer.dispose();
      expect(runtime.stats().bytesInUse).toBe(0);
    }
    await runtime.dispose();
  },
);

test('memory that work still uses is not free, and the error says what to wait for', async () => {
  const t = await openTestRuntime({ cpu: { limitBytes: 1024 * 1024 } });
  const stream = t.device.createStream();
  const buffer = t.device.alloc(bytes, { stream });
  spin(t, stream, 100).dispose();
  stream.fill(buffer, 7);
  buffer.dispose();
  const allocate = () => t.device.alloc(bytes, { stream });
  expect(allocate).toThrow(/in use \d+ of 1048576.*wait for the work that uses them/);
  await stream.synchronize();
  allocate().dispose();
  await t.runtime.dispose();
});
