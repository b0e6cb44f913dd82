import { expect, test, vi } from 'vitest';
import { environment } from '../../src/native/environment.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
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

  test('L14: where external array buffers are forbidden it is refused, and write and read work', async () => {
    const t = await openTestRuntime({ backend });
    const live = () => t.runtime.stats().live['host buffer'] ?? 0;
    // What Node-API says there; no flag of Node makes it forbid them.
    const forbidden = vi.spyOn(environment().binding, 'hostArray').mockImplementation(() => {
      throw new Error('External buffers are not allowed');
    });
    const refused = { code: 'CRT_NO_SHARED_MEMORY', message: expect.stringContaining('Electron') };
    expect(() => t.device.allocHostSync(64)).toThrow(expect.objectContaining(refused));
    await expect(t.device.allocHost(64)).rejects.toMatchObject(refused);
    await expect.poll(live).toBe(0);
    const stream = t.device.createStream();
    const y = zeros(t, stream, 2);
    stream.write(y, new Int32Array([3, 4]));
    expect(await readInts(stream, y)).toEqual([3, 4]);
    forbidden.mockRestore();
    t.device.allocHostSync(64).dispose();
    await t.runtime.dispose();
  });
});
