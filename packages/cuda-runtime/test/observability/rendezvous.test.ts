import { afterEach, beforeEach, expect, test } from 'vitest';
import { forkJoin, type Overlap, type Stream, type Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, readInts, type TestRuntime, zeros } from '../makers/test-kernels.js';

const ways = ['eager', 'in a replay', 'in a traced copy'] as const;

type Way = (typeof ways)[number];

// Two kernels that each wait, with a time limit, for the other to start.
onEachBackend((backend) => {
  let t: TestRuntime;
  beforeEach(async () => {
    t = await openTestRuntime({ backend });
  });
  afterEach(() => t.runtime.dispose());

  test.for(ways)('%s: they meet, and the trace shows it', async (how) => {
    const alt = t.runtime.streams.get('alt');
    const { met, overlap } = await meet(t, alt, 3000, how);
    expect(met).toEqual([1, 1]);
    expect(overlap.ms).toBeGreaterThan(0);
    expect(overlap.fraction).toBeGreaterThan(0);
  });

  test.for(ways)(
    '%s without the fork: they miss each other, and the trace shows none',
    async (how) => {
      const { met, overlap } = await meet(t, t.runtime.currentStream(), 30, how);
      expect(met).not.toEqual([1, 1]);
      expect(overlap).toEqual({ ms: 0, fraction: 0 });
    },
  );
});

/** One kernel on `main`, the other on `side`, which may be `main` as well. */
async function meet(
  t: TestRuntime,
  side: Stream,
  timeoutMs: number,
  how: Way,
): Promise<{ met: readonly number[]; overlap: Overlap }> {
  const main = t.runtime.currentStream();
  const [flags, a, b] = [zeros(t, main, 2), zeros(t, main, 1), zeros(t, main, 1)];
  const config = { grid: [1], block: [1] } as const;
  const one = (stream: Stream, met: Tensor, number: number) => {
    const params = { flags, met, side: number, timeout_ms: timeoutMs };
    stream.launch(t.kernels.rendezvous, config, params);
  };
  const both = () => {
    if (side !== main)
      return forkJoin(main, [[side, () => one(side, b, 1)]], () => one(main, a, 0));
    one(main, a, 0);
    one(main, b, 1);
  };
  await main.synchronize();
  const exec =
    how !== 'eager' ? t.device.capture(both, { stream: main }).instantiateSync() : undefined;
  t.runtime.trace.start({ source: how === 'in a traced copy' ? 'events' : 'backend' });
  if (exec) exec.launch(main);
  else both();
  await main.synchronize();
  const data = t.runtime.trace.stop();
  const [first, second] = data.spans.filter(({ name }) => name === 'test_rendezvous');
  if (!first || !second) throw new Error('two spans expected');
  const met = [...(await readInts(main, a)), ...(await readInts(main, b))];
  return { met, overlap: data.overlap(first, second) };
}
