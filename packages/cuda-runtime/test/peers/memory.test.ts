import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RaceError, type Stream, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { errorOf, launchEmpty, openPeerScene, type PeerScene } from '../makers/peer-scene.js';
import { accumulate, openTestRuntime, readInts, spin, zeros } from '../makers/test-kernels.js';

const run = promisify(execFile);

onEachBackend((backend) => {
  let t: PeerScene;
  let [main, side] = [] as Stream[] as [Stream, Stream];

  beforeEach(async () => {
    t = await openPeerScene({ backend, cpu: { poison: backend === 'cpu' } });
    ({ main, side } = t);
  });
  afterEach(() => t.runtime.dispose());

  test('#6, L8: the first allocation of a process may be inside a capture', async () => {
    const program = fileURLToPath(new URL('../fixtures/first-allocation.ts', import.meta.url));
    const options = ['--import', 'tsx', '--conditions=@altstream/source', program, backend];
    const { stdout } = await run(process.execPath, options, { timeout: 50_000 });
    expect(stdout.trim()).toBe('active ok 2/1 127');
  });

  test('#38, L5: memory used on another stream is freed only after that stream', async () => {
    const y = zeros(t, main, 4096);
    await main.synchronize();
    spin(t, side, 60);
    accumulate(t, side, y, 1, 5);
    const copy = Tensor.allocate(t.device, [4096], 'i32', { stream: side });
    side.copy(copy, y);
    y.dispose();
    for (let index = 0; index < 30; index += 1) main.fill(zeros(t, main, 4096), 0xee);
    expect(new Set(await readInts(side, copy))).toEqual(new Set([5]));
  });

  test('#39, L6: memory freed during a capture does not pile up', async () => {
    const megabyte = 1 << 20;
    const settled = async () => {
      await t.device.synchronize();
      await delay(50);
      return t.runtime.stats();
    };
    const before = await settled();
    main.beginCapture({ mode: 'global' });
    for (let index = 0; index < 1000; index += 1) {
      const unused = t.device.alloc(megabyte, { stream: main });
      const elsewhere = t.device.alloc(megabyte, { stream: side });
      side.fill(elsewhere, 1);
      unused.dispose();
      elsewhere.dispose();
      // What is pending holds its memory: a machine that fills slower than this submits would show
      // that.
      while (side.pending > 50) await delay(1);
      if (index % 100 === 0) {
        launchEmpty(t, main);
        await delay(1);
      }
    }
    expect(main.captureStatus).toBe('active');
    expect(main.endCapture().nodes).toHaveLength(10);
    // The threads that ran the fills let go of the memory a moment after they are complete.
    await vi.waitFor(
      () => {
        const after = t.runtime.stats();
        expect(after.live['buffer'] ?? 0).toBe(before.live['buffer'] ?? 0);
        expect(after.bytesInUse).toBe(before.bytesInUse);
      },
      { timeout: 20_000 },
    );
    expect(t.runtime.stats().bytesPeak).toBeLessThan(before.bytesPeak + 200 * megabyte);
  });

  test('#40: freed memory is kept for the next allocation', async () => {
    const bytes = 8 << 20;
    const first = t.device.alloc(bytes, { stream: main });
    main.fill(first, 1);
    first.dispose();
    await main.synchronize();
    await delay(20);
    const { bytesCached } = t.runtime.stats();
    expect(bytesCached).toBeGreaterThanOrEqual(bytes);
    t.device.alloc(bytes, { stream: main });
    expect(t.runtime.stats().bytesCached).toBeLessThan(bytesCached ?? 0);
  });

  test('#41: a failure leaves no error behind for the next call', async () => {
    const y = zeros(t, main, 1);
    const mistakes = [
      () => main.launch(t.kernels.empty, { grid: [0], block: [1] }, { tag: 0 }),
      () => t.device.alloc(2 ** 50),
      () => main.endCapture(),
      () => t.device.capture(() => main.isIdle(), { stream: main }),
    ];
    for (const [index, mistake] of mistakes.entries()) {
      for (let again = 0; again < 20; again += 1) expect(errorOf(mistake)).toBeDefined();
      accumulate(t, main, y);
      expect(main.record().isDone()).toBeTypeOf('boolean');
      const graph = t.device.capture(() => launchEmpty(t, main), { stream: main });
      graph.instantiateSync().launch(main);
      expect(await readInts(main, y)).toEqual([index + 1]);
    }
  });
});

test('#38: the race checker names a use that nothing orders', async () => {
  const t = await openTestRuntime({ cpu: { raceCheck: true } });
  const [a, b] = [t.device.createStream({ name: 'a' }), t.device.createStream({ name: 'b' })];
  const y = zeros(t, a, 16);
  accumulate(t, b, y);
  await expect(b.synchronize()).rejects.toThrow(RaceError);
  b.waitStream(a);
  accumulate(t, b, y);
  a.waitStream(b);
  y.dispose();
  await t.device.synchronize();
  await t.runtime.dispose();
});
