import { afterAll, beforeAll, expect, test } from 'vitest';
import { OutOfMemoryError } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

// More than any machine has, so that the backend itself refuses.
const tooMuch = 2 ** 45;

async function refusal(call: () => unknown): Promise<OutOfMemoryError> {
  try {
    await call();
  } catch (error) {
    if (OutOfMemoryError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
  });
  afterAll(() => t.runtime.dispose());

  test('an allocation that does not fit tells what is there, and the five largest buffers', async () => {
    const buffers = [3, 1, 7, 5, 2, 6, 4].map((size) =>
      t.device.alloc(size * 4096, { label: `b${size}` }),
    );
    buffers[2]?.dispose();
    const error = await refusal(() => t.device.alloc(tooMuch));
    expect(error.requestedBytes).toBe(tooMuch);
    expect(error.largestLive).toEqual(
      [6, 5, 4, 3, 2].map((size) => ({ label: `b${size}`, bytes: size * 4096 })),
    );
    expect(error.freeBytes).toBeGreaterThan(0);
    expect(error.reservedBytes).toBeGreaterThanOrEqual(21 * 4096);
    for (const buffer of buffers) buffer.dispose();
    expect((await refusal(() => t.device.alloc(tooMuch))).largestLive).toEqual([]);
  });

  test('a buffer that only a graph holds is listed', async () => {
    const held = t.device.alloc(4096, { label: 'held' });
    const graph = t.device.createGraph();
    graph.addFill(held, 0);
    held.dispose();
    const { largestLive } = await refusal(() => graph.addAlloc(tooMuch));
    expect(largestLive).toEqual([{ label: 'held', bytes: 4096 }]);
    graph.dispose();
  });

  test('pinned memory has its own list, also where the call is asynchronous', async () => {
    const host = t.device.allocHostSync(4096);
    const expected = { requestedBytes: tooMuch, largestLive: [{ label: 'host', bytes: 4096 }] };
    expect(await refusal(() => t.device.allocHostSync(tooMuch))).toMatchObject(expected);
    expect(await refusal(() => t.device.allocHost(tooMuch))).toMatchObject(expected);
    host.dispose();
  });
});
