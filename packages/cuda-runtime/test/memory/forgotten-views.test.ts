import { channel } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Device, DisposedError, type Runtime, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let runtime: Runtime;
  let device: Device;
  const warnings: (Error & { readonly detail?: string })[] = [];
  const published: unknown[] = [];
  const warn = (warning: Error) => void warnings.push(warning);
  const publish = (message: unknown) => void published.push(message);

  beforeAll(async () => {
    process.env['CRT_WARN_LEAKS'] = '1';
    ({ runtime, device } = await openTestRuntime({ backend }));
    delete process.env['CRT_WARN_LEAKS'];
    process.on('warning', warn);
    channel('cuda-runtime:leak').subscribe(publish);
  });
  beforeEach(() => {
    warnings.length = 0;
    published.length = 0;
  });
  afterAll(async () => {
    process.off('warning', warn);
    channel('cuda-runtime:leak').unsubscribe(publish);
    await runtime.dispose();
  });

  async function collect(): Promise<void> {
    for (let round = 0; round < 100 && warnings.length === 0; round += 1) {
      globalThis.gc?.();
      await delay(5);
    }
  }

  describe('CRT_WARN_LEAKS', () => {
    test('L3, L4: the warning says which views were open, and where they were made', async () => {
      forgetViews(device);
      await collect();
      expect(warnings.map(({ message }) => message)).toEqual([
        'buffer weights was collected undisposed; open views: f32 [2, 2], bytes 4 … 12 of buffer weights',
      ]);
      expect(warnings[0]?.detail).toMatch(/f32 \[2, 2\]: .*\n(.*\n)*.*forgetViews/);
      expect(published).toEqual([
        {
          what: 'buffer weights',
          stack: expect.stringContaining('forgetViews'),
          views: ['f32 [2, 2]', 'bytes 4 … 12 of buffer weights'],
        },
      ]);
    });

    test('of very many views names the first ones', async () => {
      forgetMany(device);
      await collect();
      expect(warnings[0]?.message).toMatch(/; open views: (f32 \[1\], ){7}f32 \[1\] and 12 more$/);
    });

    test('a forgotten tensor without views is named as ever', async () => {
      forgetTensor(device);
      await collect();
      expect(warnings[0]?.message).toBe('buffer whole was collected undisposed');
    });

    test('nothing is said when all were disposed', async () => {
      disposeAll(device);
      await collect();
      expect([warnings, published]).toEqual([[], []]);
    });

    test('the use of a disposed view says where that was', () => {
      using whole = Tensor.allocate(device, [4], 'f32');
      const view = whole.slice(0, 0, 2);
      giveBack(view);
      let error: unknown;
      try {
        view.view([2]);
      } catch (thrown) {
        error = thrown;
      }
      if (!DisposedError.isInstance(error)) throw error;
      expect(error.cause).toMatchObject({ stack: expect.stringContaining('giveBack') });
    });
  });
});

function forgetViews(device: Device): void {
  const whole = Tensor.allocate(device, [4], 'f32', { label: 'weights' });
  whole.view([2, 2]);
  whole.slice(0, 0, 1).dispose();
  whole.borrow();
  whole.buffer.subarray(4, 8);
  whole.dispose();
}

function forgetMany(device: Device): void {
  using whole = Tensor.allocate(device, [4], 'f32');
  for (let index = 0; index < 20; index += 1) whole.slice(0, 0, 1);
}

function forgetTensor(device: Device): void {
  Tensor.allocate(device, [4], 'f32', { label: 'whole' });
}

function disposeAll(device: Device): void {
  const whole = Tensor.allocate(device, [4], 'f32');
  const views = [whole.view([2, 2]), whole.buffer.subarray(0)];
  whole.dispose();
  for (const view of views) view.dispose();
}

function giveBack(view: Tensor): void {
  view.dispose();
}
