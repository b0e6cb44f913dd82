import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { captureOrRun, DisposedError, type Stream } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, type TestRuntime } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
  });
  afterAll(() => t.runtime.dispose());

  describe('a body that disposes the stream of its own capture', () => {
    const calls: readonly [string, (stream: Stream, body: () => void) => unknown][] = [
      ['device.capture', (stream, body) => t.device.capture(body, { stream })],
      ['captureOrRun', (stream, body) => captureOrRun(stream, body)],
    ];
    test.each(calls)('%s names the capture and what to do', (_, call) => {
      const stream = t.device.createStream({ name: 'origin' });
      const capture = () =>
        call(stream, () => {
          stream.fill(t.device.alloc(4, { stream }), 1);
          stream.dispose();
        });
      expect(capture).toThrow(DisposedError);
      expect(t.runtime.isCaptureMode()).toBe(false);
      const again = t.device.createStream({ name: 'origin' });
      expect(() => call(again, () => again.dispose())).toThrow(
        /^device\.capture: the callback disposed stream origin.*, on which it is captured.*Dispose it after the capture/,
      );
    });

    test('the error that the body throws comes first', () => {
      const stream = t.device.createStream({ name: 'origin' });
      const mine = new Error('mine');
      const body = () => {
        stream.dispose();
        throw mine;
      };
      expect(() => t.device.capture(body, { stream })).toThrow(mine);
    });
  });

  test.each(['endCapture', 'abortCapture'] as const)('%s of what is disposed is named', (call) => {
    const stream = t.device.createStream();
    stream.dispose();
    expect(() => stream[call]()).toThrow(new RegExp(`^stream\\.${call}: .* is disposed`));
  });

  test('views of a disposed tensor are refused as such, whatever is asked for', () => {
    const tensor = t.runtime.currentStream().tensor([4], 'i32');
    tensor.dispose();
    const calls = [
      () => tensor.view([5]),
      () => tensor.view('x' as never),
      () => tensor.slice(3, 0, 1),
      () => tensor.slice(0, 0, 9),
    ];
    for (const call of calls) expect(call).toThrow(DisposedError);
  });
});
