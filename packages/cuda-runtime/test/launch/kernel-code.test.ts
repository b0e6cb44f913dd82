import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArgumentError, LaunchConfigError } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
  });
  afterAll(() => t.runtime.dispose());

  describe('a kernel', () => {
    test('tells what its code needs, where it is machine code', () => {
      const { code } = t.kernels.fill;
      if (backend === 'cpu') {
        expect(code).toBeUndefined();
        return;
      }
      const [major, minor] = t.device.sm.split('.').map(Number);
      expect(code?.registers).toBeGreaterThan(0);
      expect(code?.binaryVersion).toBeLessThanOrEqual((major ?? 0) * 10 + (minor ?? 0));
      expect(code).toMatchObject({ localBytes: 0 });
    });

    test('tells how many of its blocks fit on a processor', () => {
      const { fill } = t.kernels;
      const small = fill.occupancy(32);
      const large = fill.occupancy(256);
      const greedy = fill.occupancy(256, t.device.limits.sharedBytesPerBlockOptIn);
      if (backend === 'cpu') expect([small, large, greedy]).toEqual([1, 1, 1]);
      else expect([small >= large, large > 1, greedy]).toEqual([true, true, 1]);
    });

    test('refuses blocks that it was not compiled for', () => {
      const { fill } = t.kernels;
      expect(() => fill.occupancy(512)).toThrow(LaunchConfigError);
      expect(() => fill.occupancy(0)).toThrow(ArgumentError);
      expect(() => fill.occupancy(1.5)).toThrow(/`block`/);
      expect(() => fill.occupancy(32, -1)).toThrow(/`sharedBytes`/);
    });
  });
});
