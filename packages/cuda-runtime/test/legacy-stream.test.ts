import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Stream } from '../src/index.js';
import { onEachBackend } from './makers/each-backend.js';
import { openTestRuntime, spin, type TestRuntime } from './makers/test-kernels.js';

onEachBackend((backend) => {
  describe.each([false, true])('the legacy stream, guards: %s', (guards) => {
    let t: TestRuntime;
    let blocking: Stream;
    let other: Stream;
    let free: Stream;

    beforeEach(async () => {
      t = await openTestRuntime({ backend, guards });
      blocking = t.device.createStream({ name: 'B1', blocking: true });
      other = t.device.createStream({ name: 'B2', blocking: true });
      free = t.device.createStream({ name: 'S1' });
    });
    afterEach(() => t.runtime.dispose());

    const k = (stream: Stream) =>
      stream.launch(t.kernels.empty, { grid: [1], block: [1] }, { tag: 0 });
    const implicit = expect.objectContaining({
      code: 'CRT_CAPTURE_UNSUPPORTED',
      cuda: { number: 906, name: 'cudaErrorStreamCaptureImplicit' },
    });

    test('CL01: any use of it while a blocking stream captures answers 906', () => {
      for (const use of [
        k,
        (stream: Stream) => stream.record(),
        (stream: Stream) => stream.isIdle(),
      ]) {
        blocking.beginCapture();
        expect(() => use(t.device.legacyStream)).toThrow(implicit);
        expect(blocking.captureStatus).toBe(guards ? 'active' : 'invalidated');
        blocking.abortCapture();
      }
    });

    test('CL03: another blocking stream works meanwhile', async () => {
      blocking.beginCapture();
      k(other);
      expect(blocking.endCapture().nodes).toEqual([]);
      await other.synchronize();
    });

    test('CL04: it cannot take part in a capture', () => {
      free.beginCapture();
      const event = free.record();
      expect(() => t.device.legacyStream.wait(event)).toThrow(implicit);
      expect(free.captureStatus).toBe(guards ? 'active' : 'invalidated');
      free.abortCapture();
    });

    test('CL05: nor be used once a blocking stream has joined', () => {
      free.beginCapture();
      blocking.waitStream(free);
      expect(() => k(t.device.legacyStream)).toThrow(implicit);
      free.abortCapture();
    });

    test('CL06: it waits for blocking streams and they for it, the others do not', async () => {
      spin(t, blocking, 300);
      const legacy = t.device.legacyStream;
      k(legacy);
      k(other);
      k(free);
      await free.synchronize();
      expect([legacy.isIdle(), other.isIdle()]).toEqual([false, false]);
      await other.synchronize();
      expect([blocking.isIdle(), legacy.isIdle()]).toEqual([true, true]);
    });
  });
});
