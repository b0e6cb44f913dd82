import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CaptureError, captureOrRun, DisposedError, type Stream } from '../src/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  type TestRuntime,
  zeros,
} from './makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;

  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 'captured' });
  });
  afterEach(() => t.runtime.dispose());

  describe('device.capture', () => {
    test('records on the current stream, which the callback gets, in capture mode', () => {
      const graph = t.device.capture(
        (stream) => {
          expect(stream).toBe(s);
          expect(t.runtime.currentStream()).toBe(s);
          expect([t.runtime.isCapturing(), t.runtime.isCaptureMode()]).toEqual([true, true]);
          s.fill(t.device.alloc(8), 1);
        },
        { stream: s },
      );
      expect([t.runtime.isCapturing(), t.runtime.isCaptureMode()]).toEqual([false, false]);
      expect(graph.nodes.map(({ kind, stream }) => [kind, stream])).toEqual([
        ['fill', `captured#${s.id}`],
      ]);
    });

    const captures: readonly [string, (stream: Stream, body: () => void) => unknown][] = [
      ['device.capture', (stream, body) => t.device.capture(body, { stream })],
      ['captureOrRun', (stream, body) => captureOrRun(stream, body)],
    ];
    test.each(captures)('%s: a callback that disposes its stream is told so', (_, call) => {
      const capture = () =>
        call(s, () => {
          s.fill(t.device.alloc(4, { stream: s }), 1);
          s.dispose();
        });
      expect(capture).toThrow(
        /^device\.capture: the callback disposed stream captured#.*, on which it is captured.*Dispose it after the capture/,
      );
      expect(t.runtime.isCaptureMode()).toBe(false);
      const other = t.device.createStream();
      expect(() => call(other, () => other.dispose())).toThrow(DisposedError);
    });

    test.each(['endCapture', 'abortCapture'] as const)('%s of what is disposed is named', (end) => {
      s.dispose();
      expect(() => s[end]()).toThrow(new RegExp(`^stream\\.${end}: .* is disposed`));
    });

    test('throws the first error although the callback disposed its stream', () => {
      const record = (stream: Stream) => {
        stream.dispose();
        throw new Error('planted');
      };
      expect(() => t.device.capture(record, { stream: s })).toThrow('planted');
      expect(t.runtime.isCaptureMode()).toBe(false);
    });

    test('a replay reads what the buffers hold then', async () => {
      const y = zeros(t, s, 2);
      const exec = t.device
        .capture(() => accumulate(t, s, y, 3, 1), { stream: s })
        .instantiateSync();
      s.write(y, Int32Array.of(10, 20));
      exec.launch(s).launch(s);
      expect(await readInts(s, y)).toEqual([94, 184]);
      expect(exec.launches).toBe(2);
    });

    test('everything is as before when the callback throws', async () => {
      const failure = new Error('mine');
      const fail = () => {
        throw failure;
      };
      expect(() => t.device.capture(fail, { stream: s })).toThrow(failure);
      await expectRestored();
    });

    test('an asynchronous callback is refused and its capture discarded', async () => {
      const later = async () => {
        await Promise.resolve();
        s.fill(t.device.alloc(8), 1);
        throw new Error('afterwards');
      };
      expect(() => t.device.capture(later, { stream: s })).toThrow(
        expect.objectContaining({ code: 'CRT_CAPTURE_ASYNC' }),
      );
      await expectRestored();
    });

    test('an unjoined fork names the stream and its last operation', async () => {
      const alt = t.device.createStream({ name: 'forgotten' });
      const record = () => {
        alt.waitStream(s);
        alt.fill(t.device.alloc(4), 0);
      };
      expect(() => t.device.capture(record, { stream: s })).toThrow(/forgotten.*fill/);
      expect(() => t.device.capture(record, { stream: s })).toThrow(CaptureError);
      expect(alt.captureStatus).toBe('none');
      await expectRestored();
    });

    test('a capture that is ended on a fork is broken, and the error names its origin', async () => {
      const alt = t.device.createStream();
      s.beginCapture();
      alt.waitStream(s);
      expect(() => alt.endCapture()).toThrow(
        expect.objectContaining({
          code: 'CRT_CAPTURE_UNMATCHED',
          message: expect.stringContaining('captured#'),
        }),
      );
      expect(s.captureStatus).toBe('invalidated');
      s.abortCapture();
    });

    test('what is refused since a capture is broken has the error that broke it as its cause', () => {
      const y = zeros(t, s, 1);
      const alt = t.device.createStream();
      s.beginCapture();
      alt.waitStream(s);
      expect(() => alt.endCapture()).toThrow(CaptureError);
      for (const call of [() => s.fill(y, 1), () => alt.record(), () => s.endCapture()]) {
        expect(call).toThrow(
          expect.objectContaining({
            code: 'CRT_CAPTURE_INVALIDATED',
            cause: expect.objectContaining({
              code: 'CRT_CAPTURE_UNMATCHED',
              api: 'an earlier call',
              cuda: expect.objectContaining({ number: 903 }),
            }),
          }),
        );
      }
      expect(s.captureStatus).toBe('none');
    });

    test('memory allocated inside is an ordinary buffer that the graph keeps', async () => {
      let inside = zeros(t, s, 1);
      const graph = t.device.capture(
        () => {
          inside = s.tensor([2], 'i32', 'inside');
          s.fill(inside, 0);
          accumulate(t, s, inside, 1, 9);
        },
        { stream: s },
      );
      const exec = graph.instantiateSync();
      exec.launch(s);
      expect(await readInts(s, inside)).toEqual([9, 9]);
      inside.dispose();
      exec.launch(s);
      await s.synchronize();
    });

    test('L15: JavaScript memory cannot be captured', () => {
      const y = zeros(t, s, 1);
      const write = () => {
        s.write(y, Int32Array.of(1));
      };
      expect(() => t.device.capture(write, { stream: s })).toThrow(
        expect.objectContaining({ code: 'CRT_CAPTURE_UNSUPPORTED' }),
      );
    });
  });

  describe('withStream and withCaptureMode', () => {
    test('nest, and are restored when the body throws', () => {
      const fail = () => {
        throw new Error('x');
      };
      const before = t.runtime.currentStream();
      t.runtime.withStream(s, () => {
        expect(() => t.runtime.withStream(before, fail)).toThrow('x');
        expect(t.runtime.currentStream()).toBe(s);
      });
      expect(t.runtime.currentStream()).toBe(before);
      expect(() => t.runtime.withCaptureMode(fail)).toThrow('x');
      expect(t.runtime.isCaptureMode()).toBe(false);
      expect(t.runtime.withCaptureMode(() => t.runtime.isCaptureMode())).toBe(true);
    });

    test('refuse a body that returns a promise', () => {
      expect(() => t.runtime.withStream(s, async () => undefined)).toThrow(/promise/);
      expect(() => t.runtime.withCaptureMode(async () => undefined)).toThrow(/promise/);
      expect(t.runtime.isCaptureMode()).toBe(false);
    });
  });

  async function expectRestored(): Promise<void> {
    expect(s.captureStatus).toBe('none');
    expect(t.runtime.currentStream()).not.toBe(s);
    expect(t.runtime.isCaptureMode()).toBe(false);
    const y = zeros(t, s, 1);
    accumulate(t, s, y, 1, 4);
    expect(await readInts(s, y)).toEqual([4]);
  }
});
