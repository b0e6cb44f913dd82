import { expect, test } from 'vitest';
import { whyNoFakeDriver, withFakeDriver } from '../makers/fake-driver.js';

test('#40: a driver that is too old is refused with its version and the one needed', async ({
  skip,
}) => {
  const missing = whyNoFakeDriver();
  if (missing !== undefined) skip(missing);
  expect(await withFakeDriver(11040, 35)).toMatchObject({
    reason: 'DRIVER_TOO_OLD',
    detail: expect.stringMatching(/supports CUDA 11\.4, this build needs 13\.\d/),
    code: 'CRT_UNAVAILABLE',
    opened: 'DRIVER_TOO_OLD',
  });
});
