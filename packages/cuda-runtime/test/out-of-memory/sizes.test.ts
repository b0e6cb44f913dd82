import { afterEach, expect, test } from 'vitest';
import { Tensor } from '../../src/index.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

let t: TestRuntime;
afterEach(() => t.runtime.dispose());

// A limit that the machine does not have: the system itself refuses, not our account of it.
const boundless = { cpu: { limitBytes: 2 ** 53 - 1 } };

test('sizes that only the system can refuse are refused as CRT_OOM, and work goes on', async () => {
  t = await openTestRuntime(boundless);
  const s = t.device.createStream({ name: 's' });
  for (const bytes of [2 ** 48, 2 ** 52, 2 ** 53 - 1]) {
    expect(() => t.device.alloc(bytes)).toThrow(expect.objectContaining({ code: 'CRT_OOM' }));
    expect(() => t.device.allocHostSync(bytes)).toThrow(
      expect.objectContaining({ code: 'CRT_OOM' }),
    );
  }
  const y = Tensor.allocate(t.device, [4], 'i32', { stream: s });
  s.fill(y, 0);
  const values = new Int32Array(4).fill(1);
  await s.read(y, values);
  expect([...values]).toEqual([0, 0, 0, 0]);
});

test('poison does not hide a refusal', async () => {
  t = await openTestRuntime({ cpu: { limitBytes: 2 ** 53 - 1, poison: true } });
  expect(() => t.device.alloc(2 ** 53 - 1)).toThrow(expect.objectContaining({ code: 'CRT_OOM' }));
});
