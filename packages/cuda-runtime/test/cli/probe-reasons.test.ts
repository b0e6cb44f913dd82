import { expect, test } from 'vitest';
import { askProcess, whyNoFakeDriver, withFakeDriver } from '../makers/fake-driver.js';

const missing = whyNoFakeDriver();
const title = `a driver that answers %i: %s${missing === undefined ? '' : ` (${missing})`}`;

test.skipIf(missing !== undefined).for([
  [100, 'NO_DEVICE', /sees no device .* 100/, /CUDA_VISIBLE_DEVICES/],
  [34, 'STUB_OR_MISMATCH', /cudaErrorStubLibrary 34/, /toolkit stub/],
  [802, 'STUB_OR_MISMATCH', /cudaErrorSystemNotReady 802/, /second driver/],
  [803, 'STUB_OR_MISMATCH', /cudaErrorSystemDriverMismatch 803/, /second driver/],
  [804, 'STUB_OR_MISMATCH', /cudaErrorCompatNotSupportedOnDevice 804/, /second driver/],
  [3, 'INIT_FAILED', /cudaErrorInitializationError 3/, /`fork`/],
  [999, 'INIT_FAILED', /cudaErrorUnknown 999/, /`fork`/],
] as const)(title, async ([error, reason, detail, hint]) => {
  expect(await withFakeDriver(13000, error)).toEqual({
    reason,
    detail: expect.stringMatching(detail),
    code: 'CRT_UNAVAILABLE',
    opened: reason,
    hint: expect.stringMatching(hint),
  });
});

test('a Node whose Node-API is too old: NODE_TOO_OLD, before any binary is loaded', async () => {
  const older = "Object.defineProperty(process.versions, 'napi', { value: '7' });";
  const env = { CUDA_RUNTIME_BINARY: '/no/such/file' };
  expect(await askProcess(older, env)).toEqual({
    reason: 'NODE_TOO_OLD',
    detail: expect.stringMatching(/offers Node-API 7, the addon needs 8/),
    code: 'CRT_UNAVAILABLE',
    opened: 'NODE_TOO_OLD',
    hint: expect.stringMatching(/Node/),
  });
});
