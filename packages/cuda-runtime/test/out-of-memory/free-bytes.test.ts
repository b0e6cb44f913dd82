import { open } from '@altstream/cuda-runtime';
import { expect, it } from 'vitest';

it('device.freeBytes falls with an allocation and comes back, also from what the pool keeps', async () => {
  const limitBytes = 32 * 2 ** 20;
  const runtime = await open({ backend: 'cpu', isolated: true, cpu: { limitBytes } });
  const device = runtime.device();
  expect(device.freeBytes).toBe(limitBytes);
  const buffer = device.alloc(8 * 2 ** 20);
  expect(device.freeBytes).toBe(24 * 2 ** 20);
  buffer.dispose();
  await expect.poll(() => device.freeBytes).toBe(limitBytes);
  await runtime.dispose();
  expect(() => device.freeBytes).toThrow(/device\.freeBytes/);
});
