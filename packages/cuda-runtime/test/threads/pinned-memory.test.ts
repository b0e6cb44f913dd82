import { expect, test } from 'vitest';
import { environment } from '../../src/native/environment.js';
import { onEachBackend } from '../makers/each-backend.js';
import { openTestRuntime, readInts, spin, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  test('#54, L14: one array for one pointer, detached at once, freed after the copy', async () => {
    const t = await openTestRuntime({ backend });
    const stream = t.device.createStream();
    const y = zeros(t, stream, 16);
    const host = await t.device.allocHost(64);
    const view = new Int32Array(host.buffer).fill(9);
    const handle = host.use('test');
    expect(() => environment().binding.hostArray(handle)).toThrow(/has its array/);
    const live = () => t.runtime.stats().live['host buffer'];
    spin(t, stream, 100);
    stream.copy(y, host);
    host.dispose();
    expect([view.length, host.buffer.byteLength, live()]).toEqual([0, 0, 1]);
    expect(await readInts(stream, y)).toEqual(Array(16).fill(9));
    await expect.poll(live).toBe(0);
    await t.runtime.dispose();
  });
});
