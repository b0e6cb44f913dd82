import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DisposedError, type Stream, Tensor } from '../src/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';
import { auditText } from './makers/audit-text.js';
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
  let s: Stream;

  beforeEach(async () => {
    t = await openTestRuntime({ backend, cpu: { poison: backend === 'cpu' } });
    s = t.device.createStream({ name: 's' });
  });
  afterEach(() => t.runtime.dispose());

  const buffers = () => t.runtime.stats().live['buffer'] ?? -1;

  describe('dispose', () => {
    test('L1: the second does nothing, every other use throws DisposedError', () => {
      const buffer = t.device.alloc(16);
      const event = t.device.createEvent();
      const stream = t.device.createStream();
      const graph = t.device.capture(() => undefined, { stream: s });
      const exec = graph.instantiateSync();
      for (const object of [buffer, event, stream, graph, exec]) {
        object.dispose();
        object.dispose();
      }
      const uses = [
        () => s.fill(buffer, 0),
        () => s.wait(event),
        () => stream.record(),
        () => graph.nodes,
        () => graph.instantiateSync(),
        () => exec.launch(s),
      ];
      for (const use of uses) expect(use).toThrow(DisposedError);
    });

    test('L2: does not wait; what was submitted still completes', async () => {
      const y = zeros(t, s, 1);
      spin(t, s, 250);
      const spun = s.record();
      accumulate(t, s, y, 1, 3);
      const copy = zeros(t, s, 1);
      s.copy(copy, y);
      const event = s.record();
      y.dispose();
      expect(spun.isDone()).toBe(false);
      await event.done();
      expect(await readInts(s, copy)).toEqual([3]);
    });

    test('L2: a stream may be disposed with work pending', async () => {
      const other = t.device.createStream();
      const y = zeros(t, other, 1);
      spin(t, other, 30);
      accumulate(t, other, y, 1, 8);
      s.waitStream(other);
      other.dispose();
      expect(await readInts(s, y)).toEqual([8]);
    });

    test('L3: what is forgotten is released after a collection', async () => {
      await s.synchronize();
      const before = buffers();
      for (let index = 0; index < 200; index += 1) t.device.alloc(64, { stream: s });
      expect(buffers()).toBeGreaterThanOrEqual(before + 200);
      for (let round = 0; round < 50 && buffers() > before; round += 1) {
        globalThis.gc?.();
        await delay(10);
      }
      expect(buffers()).toBeLessThanOrEqual(before);
    });

    test('L5: memory is freed only after other streams are done with it', async () => {
      const other = t.device.createStream();
      const y = zeros(t, s, 1024);
      await s.synchronize();
      spin(t, other, 30);
      accumulate(t, other, y, 1, 5);
      const copy = Tensor.allocate(t.device, [1024], 'i32', { stream: other });
      other.copy(copy, y);
      y.dispose();
      for (let index = 0; index < 20; index += 1) zeros(t, s, 1024).dispose();
      expect(new Set(await readInts(other, copy))).toEqual(new Set([5]));
    });

    test('L7, L9: a graph and its executable keep what they use', async () => {
      const y = zeros(t, s, 4);
      const out = zeros(t, s, 4);
      await s.synchronize();
      const graph = t.device.capture(
        () => {
          accumulate(t, s, y, 1, 2);
          s.copy(out, y);
        },
        { stream: s },
      );
      const exec = graph.instantiateSync();
      y.dispose();
      graph.dispose();
      for (let index = 0; index < 20; index += 1) zeros(t, s, 4).dispose();
      exec.launch(s).launch(s);
      expect(await readInts(s, out)).toEqual([4, 4, 4, 4]);
      const before = buffers();
      exec.dispose();
      await s.synchronize();
      await delay(20);
      expect(buffers()).toBe(before - 1);
    });

    test('an aborted capture keeps nothing, although an event was recorded in it', () => {
      const event = t.device.createEvent();
      const before = buffers();
      s.beginCapture();
      const captured = zeros(t, s, 64);
      s.record(event);
      captured.dispose();
      expect(buffers()).toBe(before + 1);
      s.abortCapture();
      expect(buffers()).toBe(before);
      expect(event.state).toBe('stale');
    });

    test('L13: nothing at all is legal memory', async () => {
      const empty = Tensor.allocate(t.device, [0, 3], 'f32', { stream: s });
      s.fill(empty, 1).copy(empty, empty).write(empty, new Uint8Array());
      await s.read(empty, new Uint8Array());
      const y = t.device.alloc(0);
      const params = { y, count: 0, factor: 1, x: 1 };
      s.launch(t.kernels.accumulate, { grid: [1], block: [1] }, params);
      await s.synchronize();
    });

    test('a read into pinned memory goes there, whichever part of it', async () => {
      const host = await t.device.allocHost(64);
      const other = await openTestRuntime({ backend });
      const foreign = await other.device.allocHost(64);
      const y = Tensor.allocate(t.device, [4], 'i32', { stream: s });
      s.write(y, Int32Array.of(1, 2, 3, 4));
      for (const { buffer } of [host, foreign]) {
        await s.read(y, new Int32Array(buffer, 16, 4));
        expect([...new Int32Array(buffer, 16, 4)]).toEqual([1, 2, 3, 4]);
        expect(new Int32Array(buffer)[8]).not.toBe(1);
      }
      const reading = s.read(y, new Int32Array(host.buffer, 0, 4));
      host.dispose();
      await expect(reading).rejects.toThrow(/transferred/);
      await other.runtime.dispose();
    });

    test('L14: pinned memory is detached', async () => {
      const host = await t.device.allocHost(64);
      const view = new Uint8Array(host.buffer);
      view.fill(7);
      const y = Tensor.allocate(t.device, [16], 'i32', { stream: s });
      s.copy(y, host);
      host.dispose();
      expect([view.length, host.buffer.byteLength]).toEqual([0, 0]);
      expect(new Set(await readInts(s, y))).toEqual(new Set([0x07070707]));
      expect(() => s.copy(y, host)).toThrow(DisposedError);
    });

    test('the last dispose ends a runtime, its threads, streams and kernels', async () => {
      const threads = () => readdirSync('/proc/self/task').length;
      const use = async () => {
        const other = await openTestRuntime({ backend, cpu: { threads: 8 } });
        const [main, alt] = [other.runtime.currentStream(), other.runtime.streams.get('alt')];
        using y = zeros(other, main, 64);
        alt.waitStream(main);
        accumulate(other, alt, y);
        spin(other, alt, 20).dispose();
        await other.runtime.dispose();
        const launch = () => accumulate(other, alt, y);
        for (const late of [launch, () => main.record()]) expect(late).toThrow(DisposedError);
      };
      await use();
      await delay(100);
      const before = threads();
      for (let index = 0; index < 5; index += 1) await use();
      await delay(100);
      expect(threads()).toBeLessThanOrEqual(before + 3); // Node's own threads come and go
    });

    test('a callback may refer to its graph, and is called although the executable is gone', async () => {
      const graphs = () => t.runtime.stats().live['graph'] ?? -1;
      const before = graphs();
      let calls = 0;
      const launchAndForget = () => {
        const all: object[] = [];
        const record = () => {
          spin(t, s, 20);
          s.notify(() => {
            calls += all.length;
          });
        };
        const graph = t.device.capture(record, { stream: s });
        const exec = graph.instantiateSync();
        all.push(graph, exec);
        exec.launch(s);
      };
      for (let round = 0; round < 10; round += 1) launchAndForget();
      for (let round = 0; round < 5; round += 1) globalThis.gc?.();
      await s.synchronize();
      for (let round = 0; round < 100 && (calls < 20 || graphs() > before); round += 1) {
        globalThis.gc?.();
        await delay(10);
      }
      expect(calls).toBe(20);
      expect(graphs()).toBe(before);
      expect(t.runtime.stats().droppedCompletions).toBe(0);
    });

    test('nothing is left behind by captures, launches, copies and errors, again and again', async () => {
      const alt = t.device.createStream();
      const round = async () => {
        const [y, host] = [zeros(t, s, 64), t.device.allocHostSync(256)];
        const record = () => {
          s.copy(y, host);
          alt.waitStream(s);
          accumulate(t, alt, y);
          s.waitStream(alt);
          s.notify(() => undefined);
        };
        const graph = t.device.capture(record, { stream: s });
        const exec = graph.instantiateSync();
        exec.launch(s).launch(s);
        expect(() => t.device.capture(() => y.view([7]), { stream: s })).toThrow(/does not hold/);
        const event = s.record();
        await event.done();
        await readInts(s, y);
        for (const object of [y, host, graph, exec, event]) object.dispose();
        await s.synchronize();
      };
      await round();
      await delay(20); // detached pinned memory is given back by a later task
      const before = t.runtime.stats();
      for (let index = 0; index < 100; index += 1) await round();
      await delay(20);
      const after = t.runtime.stats();
      expect(after.live, auditText(t.runtime)).toEqual(before.live);
      expect(after.bytesInUse).toBe(before.bytesInUse);
    });
  });
});
