import { constants } from 'node:buffer';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { environment } from '../../src/native/environment.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
  });
  afterEach(() => t.runtime.dispose());

  const hosts = () => t.runtime.stats().live['host buffer'];
  const tooLong = expect.objectContaining({
    code: 'CRT_OOM',
    message: expect.stringContaining(`${constants.MAX_LENGTH} of \`buffer.constants.MAX_LENGTH\``),
  });

  test.skipIf(constants.MAX_LENGTH >= Number.MAX_SAFE_INTEGER)(
    'more than the longest array is refused before anything is allocated',
    async () => {
      for (const bytes of [constants.MAX_LENGTH + 8, 2 * constants.MAX_LENGTH]) {
        expect(() => t.device.allocHostSync(bytes)).toThrow(tooLong);
        await expect(t.device.allocHost(bytes)).rejects.toEqual(tooLong);
      }
      expect(hosts()).toBe(0);
      t.device.allocHostSync(8).dispose();
    },
  );
});

test('an array that Node refuses leaves the process whole, and its memory free', async () => {
  const t = await openTestRuntime({ cpu: { limitBytes: 2 ** 50 } });
  const { binding } = environment();
  const bytes = constants.MAX_LENGTH + 8;
  if (bytes > 2 ** 40) return t.runtime.dispose(); // Node has no such limit
  for (let round = 0; round < 3; round += 1) {
    const handle = binding.allocHost(t.runtime.use('test'), bytes, Number.MAX_SAFE_INTEGER);
    const refused = expect.objectContaining({
      code: 'CRT_OOM',
      message: expect.stringContaining(`no array of ${bytes} bytes`),
    });
    expect(() => binding.hostArray(handle)).toThrow(refused);
    binding.release(handle);
    globalThis.gc?.();
    expect(t.runtime.stats().bytesInUse).toBe(0);
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
  await t.runtime.dispose();
});
