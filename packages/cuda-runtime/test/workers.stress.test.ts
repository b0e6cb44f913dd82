import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { accumulate, openTestRuntime, readInts, zeros } from './makers/test-kernels.js';

const manifest = fileURLToPath(
  new URL('../build/Release/test_kernels/manifest.json', import.meta.url),
);

test('workers open, launch, read and end, again and again', async () => {
  for (let round = 0; round < 4; round += 1) {
    const ends = [start('finish'), start('finish')].map(async (worker) => {
      const exit = once(worker, 'exit');
      const [values] = await once(worker, 'message');
      return { values, code: (await exit)[0] };
    });
    for (const end of await Promise.all(ends)) {
      expect(end).toEqual({ values: [100, 100, 100, 100], code: 0 });
    }
  }
});

test.each(['running', 'capturing'])(
  'a worker that is terminated while %s harms nobody',
  async (mode) => {
    const t = await openTestRuntime();
    const stream = t.device.createStream();
    for (let round = 0; round < 3; round += 1) {
      const worker = start(mode);
      expect((await once(worker, 'message'))[0]).toBe('ready');
      await worker.terminate();
      const y = zeros(t, stream, 2);
      accumulate(t, stream, y, 1, round);
      expect(await readInts(stream, y)).toEqual([round, round]);
    }
    await t.runtime.dispose();
  },
);

function start(mode: string): Worker {
  return new Worker(new URL('./fixtures/worker.mjs', import.meta.url), {
    workerData: { manifest, mode },
  });
}
