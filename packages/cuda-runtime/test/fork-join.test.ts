import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CaptureError, forkJoin, type Stream, withAlt } from '../src/index.js';
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
  let main: Stream;
  let alt: Stream;

  beforeAll(async () => {
    t = await openTestRuntime({ backend });
    main = t.device.createStream({ name: 'main' });
    alt = t.runtime.streams.get('alt');
  });
  afterAll(() => t.runtime.dispose());

  describe('forkJoin', () => {
    test('each body runs with its stream as the current one, the main body first', () => {
      const seen: string[] = [];
      const note = () => seen.push(t.runtime.currentStream().name);
      withAlt(main, alt, note, note);
      withAlt(main, alt, note, note, { order: 'branches-first' });
      expect(seen).toEqual(['main', 'alt', 'alt', 'main']);
      expect(t.runtime.currentStream()).not.toBe(alt);
    });

    test('eager and captured give the same numbers', async () => {
      const results: (readonly number[])[] = [];
      for (const isCaptured of [false, true]) {
        const y = zeros(t, main, 4);
        const body = () => {
          accumulate(t, main, y, 1, 5);
          const [low, high] = [y.slice(0, 0, 2), y.slice(0, 2, 4)];
          withAlt(
            main,
            alt,
            () => accumulate(t, alt, high, 3),
            () => accumulate(t, main, low, 7),
          );
          accumulate(t, main, y, 2);
        };
        if (isCaptured) t.device.capture(body, { stream: main }).instantiateSync().launch(main);
        else body();
        results.push(await readInts(main, y));
      }
      expect(results[0]).toEqual([73, 73, 33, 33]);
      expect(results[1]).toEqual(results[0]);
    });

    test.each(['main', 'alt'] as const)(
      'when the %s body throws, the join still happens',
      (which) => {
        const failure = new Error(`${which} failed`);
        const fail = () => {
          throw failure;
        };
        const y = t.device.alloc(4, { stream: main });
        const fillThenFail = () => {
          alt.fill(y, 1);
          fail();
        };
        const nothing = () => undefined;
        main.beginCapture();
        const run = () =>
          which === 'main'
            ? withAlt(main, alt, nothing, fail)
            : withAlt(main, alt, fillThenFail, nothing);
        expect(run).toThrow(failure);
        // Joined, so that the capture ends well although the fork has a node.
        expect(main.endCapture().nodes).toHaveLength(which === 'main' ? 0 : 1);
        expect(t.runtime.currentStream()).not.toBe(alt);
      },
    );

    test('the first of several errors is thrown, joins that fail are suppressed', () => {
      const failure = new Error('body');
      const other = t.device.createStream({ name: 'other' });
      main.beginCapture();
      const run = () =>
        forkJoin(main, [[alt, () => undefined]], () => {
          other.beginCapture();
          expect(() => other.waitStream(main)).toThrow(CaptureError);
          other.abortCapture();
          throw failure;
        });
      expect(run).toThrow(failure);
      expect(failure).toHaveProperty('suppressed', [
        expect.objectContaining({ code: 'CRT_CAPTURE_INVALIDATED' }),
      ]);
      main.abortCapture();
    });

    test('an error that takes no `suppressed` is thrown itself', () => {
      const mine = Object.freeze(new RangeError('mine'));
      const branch = t.device.createStream({ name: 'branch' });
      const body = () => {
        branch.dispose();
        throw mine;
      };
      expect(() => forkJoin(main, [[branch, body]])).toThrow(mine);
    });

    test('a fork that fails runs no body and joins only what was forked', () => {
      const other = t.device.createStream({ name: 'other' });
      const seen: string[] = [];
      main.beginCapture();
      const run = () =>
        forkJoin(
          main,
          [
            [alt, () => seen.push('alt')],
            [other, () => seen.push('other')],
          ],
          () => seen.push('main'),
        );
      other.dispose();
      expect(run).toThrow(expect.objectContaining({ code: 'CRT_DISPOSED' }));
      expect(seen).toEqual([]);
      expect(main.captureStatus).toBe('active');
      main.abortCapture();
      expect(alt.captureStatus).toBe('none');
    });
  });
});
