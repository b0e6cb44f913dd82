import { expect, test } from 'vitest';
import type { Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, readInts, zeros } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  test('#9: a hundred streams are a hundred streams: any two run at the same time', async () => {
    const t = await openTestRuntime({ backend });
    const streams = Array.from({ length: 100 }, () => t.device.createStream());
    expect(new Set(streams.map(({ id }) => id)).size).toBe(100);
    // Flags for each pair, so that no meeting waits for another one's reset.
    const pairs: [number, number][] = [];
    for (let step = 1; step < 100; step += 7) {
      for (let a = 0; a < 100; a += 1) pairs.push([a, (a + step) % 100]);
    }
    const main = t.runtime.currentStream();
    const [flags, met] = [zeros(t, main, 2 * pairs.length), zeros(t, main, 2 * pairs.length)];
    await main.synchronize();
    const arrive = (stream: Stream, pair: number, side: number) => {
      const at = 2 * pair;
      const params = {
        flags: flags.slice(0, at, at + 2),
        met: met.slice(0, at + side, at + side + 1),
        side,
        timeout_ms: 5000,
      };
      stream.launch(t.kernels.rendezvous, { grid: [1], block: [1] }, params);
    };
    for (const [pair, [a, b]] of pairs.entries()) {
      const [first, second] = [streams[a], streams[b]];
      if (!first || !second) throw new Error('no stream');
      arrive(first, pair, 0);
      arrive(second, pair, 1);
      await Promise.all([first.synchronize(), second.synchronize()]);
    }
    expect(new Set(await readInts(main, met))).toEqual(new Set([1]));
    await t.runtime.dispose();
  });
});
