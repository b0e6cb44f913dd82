import { expect, test } from 'vitest';
import { Tensor } from '../../src/index.js';
import { openTestRuntime } from '../makers/test-kernels.js';

test('a getter that launches cannot mix its arguments with those of its launch', async () => {
  const { runtime, device, kernels } = await openTestRuntime();
  const stream = runtime.currentStream();
  const y = Tensor.allocate(device, [4], 'i32');
  const one = { grid: [1], block: [1] } as const;
  const nested = () => stream.launch(kernels.accumulate, one, { y, count: 4, factor: 1, x: 1 });
  const params = {
    y,
    count: 4,
    factor: 1,
    get x() {
      nested();
      return 1;
    },
  };
  const launch = () => stream.launch(kernels.accumulate, one, params);
  expect(launch).toThrow(/getter .* another launch/);
  expect(nested).not.toThrow();
  await runtime.dispose();
});
