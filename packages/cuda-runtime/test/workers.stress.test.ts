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
    const workers = [start('finish'), start('finish')];
    for (const worker of workers) {
      const [values] = await once(worker, 'message');
      expect(values).toEqual([100, 100, 100, 100]);
    }
    for (const worker of workers) expect((await ended(worker))[0]).toBe(0);
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
  return new Worker(new URL('./fixtures/worker.ts', import.meta.url), {
    workerData: { manifest, mode },
    execArgv: ['--import', 'tsx', '--conditions=@altstream/source'],
  });
}

async function ended(worker: Worker): Promise<unknown[]> {
  return worker.threadId === -1 ? [0] : once(worker, 'exit');
}
