import { expect, test } from 'vitest';
import { DeviceLostError, Tensor } from '../../src/index.js';
import { openTestRuntime } from '../makers/test-kernels.js';

test.each([0, 7, 0xdeadbeef00n])(
  'a kernel that sets the number %s instead of a condition loses the device, not the process',
  async (condition) => {
    const { runtime, device, kernels } = await openTestRuntime();
    const stream = runtime.currentStream();
    const counter = Tensor.allocate(device, [1], 'i32');
    stream.fill(counter, 0);
    const one = { grid: [1], block: [1] } as const;
    stream.launch(kernels.condition, one, { counter, condition });
    const lost = await stream.synchronize().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(lost).toBeInstanceOf(DeviceLostError);
    expect(lost).toMatchObject({ code: 'CRT_DEVICE_LOST', cuda: { number: 700 } });
    expect(String(lost)).toMatch(/test_condition set a condition that its launch was not given/);
    await runtime.dispose();
  },
);
