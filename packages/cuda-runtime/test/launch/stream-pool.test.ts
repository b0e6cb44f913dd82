import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ArgumentError,
  type Device,
  DisposedError,
  NotOwnerError,
  open,
  StreamPool,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  accumulate,
  readInts,
  type TestRuntime,
  testRuntimeOf,
  zeros,
} from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await testRuntimeOf(await open({ backend }));
  });
  afterAll(() => t.runtime.dispose());

  describe('StreamPool', () => {
    test('hands out its streams in turn: distinct ones, of its priority', () => {
      using pool = new StreamPool(t.device, 3, { priority: -1, name: 'side' });
      const [first, ...more] = Array.from({ length: 6 }, () => pool.next());
      expect(new Set([first, ...more]).size).toBe(3);
      expect(more[2]).toBe(first);
      expect(pool.streams.map(({ name }) => name)).toEqual(['side 0', 'side 1', 'side 2']);
      expect(new Set(pool.streams.map(({ id }) => id)).size).toBe(3);
      for (const { priority } of pool.streams) {
        expect(priority).toBe(t.device.createStream({ priority: -1 }).priority);
      }
    });

    test('runs what is given to it, and ends with work in flight', async () => {
      const pool = new StreamPool(t.device, 2);
      const sums = await Promise.all(
        Array.from({ length: 4 }, async (_, index) => {
          const stream = pool.next();
          const y = zeros(t, stream, 2);
          accumulate(t, stream, y, 1, index);
          return readInts(stream, y);
        }),
      );
      expect(sums).toEqual([0, 1, 2, 3].map((index) => [index, index]));
      pool.dispose();
      pool.dispose();
      expect([pool.isDisposed, pool.streams.every(({ isDisposed }) => isDisposed)]).toEqual([
        true,
        true,
      ]);
      expect(() => pool.next()).toThrow(DisposedError);
    });

    test('owns its streams', () => {
      using pool = new StreamPool(t.device, 1);
      expect(() => pool.next().dispose()).toThrow(NotOwnerError);
      expect(() => pool.next().dispose()).toThrow(/stream pool 0#\d+ belongs to its pool/);
    });

    test.each([
      [/`size` is 0, expected a positive integer/, () => new StreamPool(t.device, 0)],
      [/`size` is 1.5/, () => new StreamPool(t.device, 1.5)],
      [/`device` is undefined/, () => new StreamPool(undefined as unknown as Device, 1)],
      [/`name` is 7, expected text/, () => new StreamPool(t.device, 1, { name: 7 as never })],
      [/`priority` is low/, () => new StreamPool(t.device, 1, { priority: 'low' as never })],
      [/`streams` is not an option/, () => new StreamPool(t.device, 1, { streams: 2 } as object)],
    ])('refuses what is wrong: %s', (message, make) => {
      expect(make).toThrow(ArgumentError);
      expect(make).toThrow(message);
    });
  });
});
