import { afterEach, describe, expect, test } from 'vitest';
import { type OpenOptions, openSync, type Runtime } from '../src/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';

const MiB = 2 ** 20;
const opened: Runtime[] = [];
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.dispose();
});

function start(options: OpenOptions): Runtime {
  const runtime = openSync({ isolated: true, ...options });
  opened.push(runtime);
  return runtime;
}

describe('pool: bad options', () => {
  test.each([
    [{ releaseThreshold: -1 }, /`pool.releaseThreshold` is -1, expected a non-negative integer/],
    [{ releaseThreshold: 'all' }, /`pool.releaseThreshold` is all/],
    [{ initialBytes: 1.5 }, /`pool.initialBytes` is 1.5/],
    [{ initialBytes: 2, releaseThreshold: 1 }, /`pool.initialBytes` is 2, expected at most/],
    [{ size: 1 }, /`pool.size` is not an option/],
    [7, /`pool` is 7/],
  ])('%j', (pool, message) => {
    const open = () => start({ backend: 'cpu', pool: pool as OpenOptions['pool'] & object });
    expect(open).toThrow(expect.objectContaining({ code: 'CRT_ARGUMENT' }));
    expect(open).toThrow(message);
  });
});

onEachBackend((backend) => {
  // The first open of this process: on CUDA its pool stays.
  const pool = { initialBytes: 32 * MiB, releaseThreshold: 64 * MiB };

  test('initialBytes are kept for the first allocation', () => {
    const runtime = start({ backend, pool });
    const before = runtime.stats();
    expect(before).toMatchObject({ bytesInUse: 0, bytesPeak: 0 });
    expect(before.bytesCached).toBeGreaterThanOrEqual(32 * MiB);
    const buffer = runtime.device().alloc(32 * MiB);
    const { bytesInUse, bytesCached = 0 } = runtime.stats();
    expect(bytesInUse).toBe(32 * MiB);
    expect((before.bytesCached ?? 0) - bytesCached).toBeGreaterThanOrEqual(32 * MiB);
    buffer.dispose();
  });

  test('describe tells the pool', () => {
    expect(start({ backend, pool }).describe().details['pool']).toEqual(pool);
  });

  test.runIf(backend === 'cuda')('a device has one pool: other options are refused', () => {
    start({ backend, pool });
    const other = () => start({ backend, pool: { releaseThreshold: 'max' } });
    expect(other).toThrow(expect.objectContaining({ code: 'CRT_ARGUMENT' }));
    expect(other).toThrow(
      /device 0 of this process is open with .*asked for .*max.*Leave `pool` out/,
    );
    expect(start({ backend }).describe().details['pool']).toEqual(pool);
  });

  test.runIf(backend === 'cpu')('releaseThreshold bounds what is kept', () => {
    const keeps = (options: OpenOptions, bytes: number) => {
      const runtime = start({ backend, ...options });
      const buffers = [1, 2, 3].map(() => runtime.device().alloc(bytes));
      for (const buffer of buffers) buffer.dispose();
      return runtime.stats().bytesCached;
    };
    expect(keeps({ pool: { releaseThreshold: 0 } }, MiB)).toBe(0);
    expect(keeps({ pool: { releaseThreshold: 2 * MiB } }, MiB)).toBe(2 * MiB);
    expect(keeps({ pool: { releaseThreshold: 'max' } }, 100 * MiB)).toBeGreaterThanOrEqual(
      300 * MiB,
    );
    expect(keeps({}, 100 * MiB)).toBe(0);
  });

  test.runIf(backend === 'cpu')('initialBytes that do not fit are OutOfMemoryError', () => {
    const open = () =>
      start({ backend, pool: { initialBytes: 2 * MiB }, cpu: { limitBytes: MiB } });
    expect(open).toThrow(
      expect.objectContaining({ code: 'CRT_OOM', requestedBytes: 2 * MiB, freeBytes: MiB }),
    );
  });
});
