import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { DeadlockError } from '../../src/index.js';
import { injectFaults } from '../../src/testing/index.js';
import { accumulate, openTestRuntime, type TestRuntime, zeros } from '../makers/test-kernels.js';

let t: TestRuntime | undefined;
afterEach(() => t?.runtime.dispose());

describe('a run in which nothing ends', () => {
  const picture =
    /no operation has ended for \d+ ms while \d+ are pending\n.*stream stuck#\d+: \d+ pending, head test_rendezvous \(operation \d+\) runs on thread \d+\n.*stream behind#\d+: \d+ pending, head mark \(operation \d+\) waits for test_rendezvous \(operation \d+\) of stuck#\d+/;

  test('rejects promises and blocking waits, and says what waits for what', async () => {
    const opened = await openTestRuntime({ cpu: { hangMs: 100 } });
    t = opened;
    const stuck = opened.device.createStream({ name: 'stuck' });
    const behind = opened.device.createStream({ name: 'behind' });
    const [flags, met, y] = [2, 1, 4].map((elements) => zeros(opened, stuck, elements));
    if (!flags || !met || !y) throw new Error('no memory');
    await stuck.synchronize();
    const config = { grid: [1], block: [1] } as const;
    // The kernel that it waits for is never launched.
    stuck.launch(opened.kernels.rendezvous, config, { flags, met, side: 0, timeout_ms: 1500 });
    behind.waitStream(stuck);
    accumulate(opened, behind, y);
    const waits = await Promise.allSettled([
      behind.synchronize(),
      stuck.read(y, new Uint8Array(16)),
    ]);
    for (const wait of waits) {
      expect(wait).toMatchObject({ reason: { code: 'CRT_DEADLOCK' } });
      expect(String((wait as PromiseRejectedResult).reason)).toMatch(picture);
    }
    expect(() => stuck.synchronizeSync()).toThrow(DeadlockError);
    await new Promise((resolve) => setTimeout(resolve, 1600));
    // The work itself went on.
    await behind.synchronize();
  });

  test('may be a loop of a graph that nothing ends', async () => {
    // In a process of its own, whose end is the loop's.
    const program = fileURLToPath(new URL('../fixtures/endless-loop.ts', import.meta.url));
    const options = ['--import', 'tsx', '--conditions=@altstream/source'];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, program]);
    expect(stdout).toMatch(/^DeadlockError: .*a graph of which no node runs just now; a loop/s);
  });

  test('is none while operations end, however slowly', async () => {
    const opened = await openTestRuntime({ cpu: { hangMs: 400 } });
    t = opened;
    const stream = opened.device.createStream();
    injectFaults(opened.runtime).delay('fill', 60);
    const y = zeros(opened, stream, 1);
    for (let i = 0; i < 12; i += 1) stream.fill(y, i);
    await stream.synchronize();
  });
});

describe('one long operation on memory', () => {
  // First use of memory takes as long as the machine needs: measured, then a quarter of it allowed.
  const bytes = 64 * 2 ** 20;
  const fillFresh = async (hangMs: number) => {
    t = await openTestRuntime({ cpu: { hangMs } });
    const stream = t.device.createStream();
    const y = t.device.alloc(bytes, { stream });
    const start = performance.now();
    stream.fill(y, 1);
    await stream.synchronize();
    const elapsed = performance.now() - start;
    await t.runtime.dispose();
    return elapsed;
  };

  // A busy machine may hold up one piece for that long, so more than once is a fault.
  test('is no deadlock while it comes further', { retry: 5, timeout: 120_000 }, async () => {
    const elapsed = await fillFresh(30_000);
    await fillFresh(Math.max(10, Math.floor(elapsed / 4)));
  });
});

describe('with `reuse: immediate`', () => {
  test('a smaller allocation gets the memory that was freed last', async () => {
    for (const reuse of ['immediate', 'size'] as const) {
      t = await openTestRuntime({ cpu: { reuse, poison: true } });
      const stream = t.device.createStream();
      const large = t.device.alloc(4096, { stream });
      stream.fill(large, 7);
      await stream.synchronize();
      large.dispose();
      const small = t.device.alloc(64, { stream });
      const used = t.runtime.stats().bytesCached;
      expect(used === 0).toBe(reuse === 'immediate');
      small.dispose();
      await t.runtime.dispose();
    }
  });
});
