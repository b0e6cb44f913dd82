import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LaunchConfigError, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, readInts, type TestRuntime, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
  });
  afterAll(() => t.runtime.dispose());

  describe('clusters', () => {
    const sixteen = { grid: [16], block: [32], cluster: [16] } as const;

    test('more than 8 blocks need nonPortableCluster', async () => {
      const s = t.device.createStream({ name: 's' });
      const y = zeros(t, s, 500);
      const params = { y, count: 500, value: 3 };
      expect(() => s.launch(t.kernels.fill, sixteen, params)).toThrow(
        /`cluster` has 16 blocks, expected at most 8; up to 16 with `nonPortableCluster`/,
      );
      s.launch(t.kernels.fill, { ...sixteen, nonPortableCluster: true }, params);
      expect(new Set(await readInts(s, y))).toEqual(new Set([3]));
    });

    test('a graph has them, too', async () => {
      const s = t.device.createStream({ name: 's' });
      const y = zeros(t, s, 500);
      const graph = t.device.createGraph();
      const config = { ...sixteen, nonPortableCluster: true };
      graph.addKernel(t.kernels.fill, config, { y, count: 500, value: 4 });
      graph.instantiateSync().launch(s);
      expect(new Set(await readInts(s, y))).toEqual(new Set([4]));
    });

    test('17 and more are refused', () => {
      const s = t.device.createStream({ name: 's' });
      const params = { y: zeros(t, s, 1), count: 1, value: 0 };
      const config = { grid: [32], block: [32], cluster: [32], nonPortableCluster: true } as const;
      expect(() => s.launch(t.kernels.fill, config, params)).toThrow(
        /32 blocks, expected at most 16/,
      );
    });
  });

  test('dynamic shared memory: at most what the static one leaves', async () => {
    const s = t.device.createStream({ name: 's' });
    const y = Tensor.allocate(t.device, [64], 'i64', { stream: s });
    const params = { y, count: 64n, grain: 1n };
    const own = t.kernels.parallel.code?.sharedBytes ?? 0;
    expect(own).toBe(backend === 'cuda' ? 2048 : 0);
    const most = t.device.limits.sharedBytesPerBlockOptIn - own;
    const launch = (sharedBytes: number) =>
      s.launch(t.kernels.parallel, { grid: [1], block: [64], sharedBytes }, params);
    expect(() => launch(most + 1)).toThrow(LaunchConfigError);
    expect(() => launch(most + 1)).toThrow(`${most}`);
    launch(most);
    await s.synchronize();
  });
});
