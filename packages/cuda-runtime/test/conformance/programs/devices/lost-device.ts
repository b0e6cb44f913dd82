import type { Runtime, Stream } from '../../../../src/index.js';
import { injectFaults } from '../../../../src/testing/index.js';
import {
  accumulate,
  openTestRuntime,
  spin,
  type TestRuntime,
  zeros,
} from '../../../makers/test-kernels.js';
import { NotPlayable, type Scene } from '../../scene.js';
import type { Programs } from '../program.js';

/** Rows CD and CH about a lost device: the CPU loses one of a runtime of its own. */
export const lostDevice: Programs = {
  async CD03(s) {
    await withLoss(s, async (t, lose) => {
      const [stream, other] = [t.device.createStream(), t.device.createStream()];
      const [event, buffer] = [t.device.createEvent(), t.device.alloc(16)];
      const calls = t.device.allocHostSync(8);
      const host = t.module.callback('test_host_count', { calls, microseconds: 0, step: 1 });
      await lose(stream);
      stream.record(event);
      s.put('synchronise', await numberOf(() => stream.synchronize()));
      const later: Readonly<Record<string, () => unknown>> = {
        query: () => stream.isIdle(),
        'event query': () => event.isDone(),
        malloc: () => t.device.alloc(16),
        begin: () => stream.beginCapture(),
        status: () => stream.captureStatus,
        'host function': () => other.host(host),
        'destroy stream': () => stream.dispose(),
        'destroy event': () => event.dispose(),
        free: () => buffer.dispose(),
      };
      for (const [key, call] of Object.entries(later)) s.put(key, await numberOf(call));
    });
  },
  async CH03(s) {
    await withLoss(s, async (t, lose) => {
      const stream = t.device.createStream();
      const calls = t.device.allocHostSync(8);
      const host = t.module.callback('test_host_count', { calls, microseconds: 0, step: 1 });
      new Int32Array(calls.buffer).fill(0);
      await lose(stream);
      stream.host(host);
      await stream.synchronize().catch(() => undefined);
      s.put('called', new Int32Array(calls.buffer)[0] === 0 ? 'no' : 'yes');
    });
  },
};

/** A runtime of its own, and what submits a kernel to it that will lose the device. */
async function withLoss(
  s: Scene,
  play: (t: TestRuntime, lose: (stream: Stream) => Promise<void>) => Promise<void>,
): Promise<void> {
  const runtime: Runtime = s.test.runtime;
  if (runtime.backend === 'cuda') {
    throw new NotPlayable(
      'the rows that follow would have no device: `test/threads` loses one in a process of its own',
    );
  }
  const t = await openTestRuntime({ guards: runtime.describe().guards });
  try {
    await play(t, async (stream) => {
      const y = zeros(t, stream, 1);
      await stream.synchronize();
      injectFaults(t.runtime).failKernel('test_accumulate', 700);
      spin(t, stream, 30); // what follows is submitted before the device is lost
      accumulate(t, stream, y);
    });
  } finally {
    await t.runtime.dispose();
  }
}

async function numberOf(call: () => unknown): Promise<number | string> {
  try {
    await call();
    return 0;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'cuda' in error) {
      return (error as { cuda?: { number: number } }).cuda?.number ?? 'no number';
    }
    throw error;
  }
}
