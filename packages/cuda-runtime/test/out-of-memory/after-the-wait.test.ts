import { expect, test } from 'vitest';
import { openTestRuntime } from '../makers/test-kernels.js';

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
