import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Event, LaunchConfigError, type Stream, type Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { kernelsOverlap } from '../makers/kernels-overlap.js';
import { openTestRuntime, readInts, type TestRuntime, zeros } from '../makers/test-kernels.js';

const one = { grid: [1], block: [1] } as const;

onEachBackend((backend) => {
  let t: TestRuntime;
  let a: Stream;
  let b: Stream;
  let x: Tensor;
  let y: Tensor;
  let early: Tensor;

  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    a = t.device.createStream({ name: 'a' });
    b = t.device.createStream({ name: 'b' });
    [x, y, early] = [zeros(t, a, 1), zeros(t, a, 1), zeros(t, a, 1)];
    await a.synchronize();
  });
  afterEach(() => t.runtime.dispose());

  // Triggers, works for `microseconds`, then writes 7 to x.
  const first = (
    programmatic: { event?: Event; completionEvent?: Event },
    microseconds = 20_000,
  ) => {
    const params = { x: null, y: x, started_early: null, value: 7, microseconds };
    a.launch(t.kernels.pdl_first, { ...one, programmatic }, params);
  };
  // Waits on the device, then copies x to y.
  const second = () => {
    const params = { x, y, started_early: early, value: 7, microseconds: 0 };
    const config = { ...one, programmatic: { serialize: true } };
    b.launch(t.kernels.pdl_second, config, params);
  };
  const fork = (event: Event) => {
    first({ event });
    b.wait(event);
    second();
    a.waitStream(b);
  };

  describe('an event that a launch records', () => {
    test('at its trigger lets a kernel of another stream start, in each replay', async () => {
      const event = t.device.createEvent();
      const graph = t.device.capture(() => fork(event), { stream: a });
      expect(graph.edges).toEqual([{ from: 0, to: 1, type: 'programmatic', port: 'programmatic' }]);
      const exec = graph.instantiateSync();
      let wasEarly = 0;
      for (let launch = 0; launch < 20 && wasEarly === 0; launch += 1) {
        a.fill(x, 0);
        a.fill(y, 0);
        exec.launch(a);
        expect(await readInts(a, y)).toEqual([7]);
        [wasEarly = 0] = await readInts(a, early);
      }
      if (kernelsOverlap) expect(wasEarly).toBe(1);
    });

    test('orders streams outside graphs too', async () => {
      const event = t.device.createEvent();
      fork(event);
      await event.done();
      expect(event.state).toBe('complete');
      await a.synchronize();
      expect(await readInts(a, x)).toEqual([7]);
    });

    test('when all blocks have begun is an edge from that port', async () => {
      const completionEvent = t.device.createEvent();
      const record = () => {
        first({ completionEvent });
        b.wait(completionEvent);
        second();
        a.waitStream(b);
      };
      const graph = t.device.capture(record, { stream: a });
      expect(graph.edges).toEqual([{ from: 0, to: 1, type: 'full', port: 'launch' }]);
      graph.instantiateSync().launch(a);
      await a.synchronize();
      expect(await readInts(a, x)).toEqual([7]);
    });

    test('CP07: has no timing, and the capture is unharmed', () => {
      const event = t.device.createEvent({ timing: true });
      const graph = t.device.capture(
        () => {
          expect(() => first({ event })).toThrow(LaunchConfigError);
          expect(a.captureStatus).toBe('active');
        },
        { stream: a },
      );
      expect(graph.nodes).toEqual([]);
    });

    test('CP05: can only be waited for by kernels', () => {
      const event = t.device.createEvent();
      const record = () => {
        first({ event });
        b.wait(event);
        expect(() => b.fill(y, 1)).toThrow(/cannot wait for a programmatic event/);
        second();
        a.waitStream(b);
      };
      expect(t.device.capture(record, { stream: a }).nodes).toHaveLength(2);
    });

    test('is an event', () => {
      expect(() => first({ event: 'soon' as never })).toThrow(/`programmatic\.event`/);
      const gone = t.device.createEvent();
      gone.dispose();
      expect(() => first({ completionEvent: gone })).toThrow(/disposed/);
    });
  });
});
