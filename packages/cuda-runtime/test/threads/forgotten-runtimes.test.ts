import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { open, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';

const threads = () => readdirSync('/proc/self/task').length;

onEachBackend((backend) => {
  /** Uses runtimes and forgets them; with listeners that refer to them. */
  async function forget(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const runtime = await open({ backend, isolated: true });
      runtime.onDeviceLost(() => runtime.describe());
      const stream = runtime.currentStream();
      const y = Tensor.allocate(runtime.device(), [4], 'i32', { stream });
      stream.fill(y, 1);
      await stream.synchronize();
    }
  }

  /** Collects until `isOver`, at most some seconds. */
  async function collect(isOver: () => boolean): Promise<void> {
    for (let round = 0; round < 300 && !isOver(); round += 1) {
      globalThis.gc?.();
      await delay(20);
    }
  }

  afterEach(() => {
    delete process.env['CRT_WARN_LEAKS'];
  });

  test('a runtime that nobody disposed is released with its threads, and says so', async () => {
    await forget(1); // threads of the process, which stay
    process.env['CRT_WARN_LEAKS'] = '1';
    const leaks: Error[] = [];
    const note = (warning: Error) => {
      if (String(warning).includes(`the ${backend} runtime was collected undisposed`))
        leaks.push(warning);
    };
    process.on('warning', note);
    const before = threads();
    await forget(20);
    await collect(() => leaks.length >= 19 && threads() <= before + 2);
    process.off('warning', note);
    expect(leaks.length).toBeGreaterThanOrEqual(19);
    expect(threads()).toBeLessThanOrEqual(before + 2);
  });
});
