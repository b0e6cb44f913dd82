import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeadlockError, Event, type Stream } from '../src/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';
import { closeGate } from './makers/gate.js';
import { kernelsOverlap } from './makers/kernels-overlap.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  spin,
  type TestRuntime,
  zeros,
} from './makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let a: Stream;
  let b: Stream;

  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    a = t.device.createStream({ name: 'a' });
    b = t.device.createStream({ name: 'b' });
  });
  afterEach(() => t.runtime.dispose());

  describe('events', () => {
    test('elapsed time is that of the work between, and negative in reverse', async () => {
      const [start, end] = [true, true].map((timing) => t.device.createEvent({ timing }));
      if (!start || !end) throw new Error('two events');
      a.record(start);
      spin(t, a, 20);
      a.record(end);
      await end.done();
      expect(Event.elapsedMs(start, end)).toBeGreaterThanOrEqual(20);
      expect(Event.elapsedMs(end, start)).toBeLessThanOrEqual(-20);
    });

    test('one that was never recorded says so, and waiting for it ends at once', async () => {
      const event = t.device.createEvent();
      expect([event.state, event.isDone()]).toEqual(['unrecorded', true]);
      await event.done();
      event.waitSync();
    });
  });

  describe('fills', () => {
    test('set all bytes, or as many as are given, eagerly and in a capture', async () => {
      const y = zeros(t, a, 3);
      a.fill(y, 1, 4).fill(y, 2, 0);
      expect(await readInts(a, y)).toEqual([0x01010101, 0, 0]);
      const graph = t.device.capture(() => void a.fill(y, 3, 8), { stream: a });
      expect(graph.nodes.map(({ bytes }) => bytes)).toEqual([8]);
      graph.instantiateSync().launch(a);
      expect(await readInts(a, y)).toEqual([0x03030303, 0x03030303, 0]);
      a.fill(y, 4);
      expect(await readInts(a, y)).toEqual(Array(3).fill(0x04040404));
    });
  });

  describe('waits', () => {
    test('an abort gives up the wait, not the work', async () => {
      const done = spin(t, a, 60);
      const controller = new AbortController();
      const wait = a.synchronize({ signal: controller.signal });
      controller.abort();
      await expect(wait).rejects.toMatchObject({ name: 'AbortError' });
      await expect(a.record().done({ signal: controller.signal })).rejects.toMatchObject({
        name: 'AbortError',
      });
      expect(await readInts(a, done)).toEqual([1]);
    });

    test('a time limit rejects with DeadlockError and names the stream', async () => {
      spin(t, a, 250);
      const error = await a.synchronize({ timeoutMs: 5 }).catch((thrown: unknown) => thrown);
      expect(DeadlockError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ code: 'CRT_DEADLOCK', stream: `a#${a.id}` });
      expect(() => a.synchronizeSync({ timeoutMs: 5 })).toThrow(DeadlockError);
      a.synchronizeSync();
      expect(a.isIdle()).toBe(true);
    });

    test.each([2 ** 31, Number.MAX_SAFE_INTEGER])(
      'a time limit of %i ms is waited for by both kinds of wait',
      async (timeoutMs) => {
        spin(t, a, 30);
        await a.synchronize({ timeoutMs });
        spin(t, a, 30);
        a.synchronizeSync({ timeoutMs });
        expect(a.isIdle()).toBe(true);
      },
    );

    test('a time limit may be a fraction of a millisecond', async () => {
      await a.synchronize(); // what other tests left there may take longer
      a.synchronizeSync({ timeoutMs: 0.5 });
      expect(a.isIdle()).toBe(true);
    });

    test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
      'a time limit of %s ms is an ArgumentError',
      async (timeoutMs) => {
        await expect(a.synchronize({ timeoutMs })).rejects.toMatchObject({ code: 'CRT_ARGUMENT' });
      },
    );

    test('nothing but Sync calls blocks: 300 launches behind a running kernel', async () => {
      const y = zeros(t, a, 1);
      spin(t, a, 400);
      const spun = a.record();
      for (let index = 0; index < 300; index += 1) accumulate(t, a, y);
      b.waitStream(a);
      a.record().dispose();
      // Still spinning, so none of these calls waited for the stream.
      if (kernelsOverlap) {
        expect(spun.isDone()).toBe(false);
        expect(a.pending).toBeGreaterThan(250);
      }
      await a.ready(100);
      expect(a.pending).toBeLessThan(100);
      expect(await readInts(b, y)).toEqual([300]);
    });

    test('a stream without work of its own passes on what it waits for', async () => {
      const c = t.device.createStream({ name: 'c' });
      const done = spin(t, a, 60);
      b.waitStream(a);
      expect(b.isIdle()).toBe(false);
      c.waitStream(b);
      await c.synchronize();
      expect(a.isIdle()).toBe(true);
      expect(await readInts(c, done)).toEqual([1]);
    });

    test('the legacy stream and blocking streams pass on what each waits for', async () => {
      const [first, second] = [1, 2].map(() => t.device.createStream({ blocking: true }));
      if (!first || !second) throw new Error('two streams');
      const { legacyStream: legacy } = t.device;
      spin(t, first, 60);
      const firstOver = first.record();
      a.waitStream(legacy);
      await a.synchronize();
      expect(firstOver.isDone()).toBe(true);
      spin(t, legacy, 60);
      const legacyOver = legacy.record();
      b.waitStream(second);
      await b.synchronize();
      expect(legacyOver.isDone()).toBe(true);
    });

    test('the legacy stream is idle when all that it would wait for is over', async () => {
      const { legacyStream: legacy } = t.device;
      await t.device.synchronize();
      expect(legacy.isIdle()).toBe(true);
      const blocking = t.device.createStream({ blocking: true });
      const endBlocking = closeGate(t, blocking);
      expect(legacy.isIdle()).toBe(false);
      const endOther = closeGate(t, a); // not blocking: none of its business
      endBlocking();
      if (!kernelsOverlap) endOther(); // there the wait lasts for this one, too
      await legacy.synchronize();
      expect([legacy.isIdle(), blocking.isIdle()]).toEqual([true, true]);
      if (kernelsOverlap) {
        expect(a.isIdle()).toBe(false);
        endOther();
      }
      await a.synchronize();
      blocking.dispose();
    });

    test('device.synchronize waits for every stream', async () => {
      const [x, y] = [spin(t, a, 20), spin(t, b, 40)];
      await t.device.synchronize();
      expect([a.isIdle(), b.isIdle()]).toEqual([true, true]);
      expect([...(await readInts(a, x)), ...(await readInts(b, y))]).toEqual([1, 1]);
    });
  });

  describe('notify', () => {
    test('calls back when the stream gets there, once', async () => {
      const seen: string[] = [];
      spin(t, a, 30);
      a.notify(() => seen.push('a'));
      b.notify(() => seen.push('b'));
      await a.synchronize();
      await delay(20);
      expect(seen).toEqual(['b', 'a']);
    });

    test('in a graph it calls back for each launch', async () => {
      let calls = 0;
      const graph = t.device.capture(() => a.notify(() => (calls += 1)), { stream: a });
      const exec = graph.instantiateSync();
      graph.dispose();
      exec.launch(a).launch(a).launch(a);
      await a.synchronize();
      await delay(20);
      expect(calls).toBe(3);
    });
  });

  describe('streams', () => {
    test('are distinct, and priorities are clamped', () => {
      const many = Array.from({ length: 40 }, () => t.device.createStream({ priority: -99 }));
      expect(new Set(many.map(({ id }) => id)).size).toBe(40);
      expect(many[0]?.priority).toBe(t.device.priorityRange.greatest);
    });

    test('the registry gives the same object for the same name', () => {
      const { streams } = t.runtime;
      expect(streams.has('alt')).toBe(false);
      const alt = streams.get('alt');
      expect(streams.get('alt')).toBe(alt);
      streams.set('own', a);
      expect(streams.get('own')).toBe(a);
      expect(streams.names()).toEqual(['alt', 'own']);
    });

    test('the current stream of a device is its main stream, and legacy is one object', () => {
      expect(t.runtime.currentStream().name).toBe('main');
      expect(t.device.legacyStream).toBe(t.device.legacyStream);
    });
  });
});
