import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type DeviceBuffer,
  DisposedError,
  type Stream,
  Tensor,
  Workspace,
  withScratch,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import {
  accumulate,
  openTestRuntime,
  readInts,
  spin,
  type TestRuntime,
  zeros,
} from '../makers/test-kernels.js';

type View = Tensor | DeviceBuffer;

/** Every way to a view of a tensor's memory. */
const makers: readonly { name: string; make: (of: Tensor) => View }[] = [
  { name: 'tensor.view', make: (of) => of.view([2, 4]) },
  { name: 'tensor.slice', make: (of) => of.slice(0, 2, 4) },
  { name: 'Tensor.of a buffer', make: (of) => Tensor.of(of.buffer, [2], 'f32') },
  { name: 'Tensor.of a tensor', make: (of) => Tensor.of(of, [32], 'u8') },
  { name: 'buffer.subarray', make: (of) => of.buffer.subarray(8, 16) },
  { name: 'a tensor of a subarray', make: ofSubarray },
  { name: 'a view of a view', make: viewOfView },
];

function ofSubarray(of: Tensor): Tensor {
  using part = of.buffer.subarray(8);
  return Tensor.of(part, [2], 'i32');
}

function viewOfView(of: Tensor): Tensor {
  using rows = of.view([2, 4]);
  return rows.slice(0, 1, 2);
}

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;

  beforeEach(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 's' });
  });
  afterEach(() => t.runtime.dispose());

  const buffers = () => t.runtime.stats().live['buffer'] ?? 0;

  // Work in flight keeps its memory, so that has to be over; nothing is collected here.
  async function settlesAt(count: number): Promise<void> {
    await s.synchronize();
    await expect.poll(() => buffers()).toBe(count);
  }

  async function collectUntil(count: number): Promise<void> {
    for (let round = 0; round < 100 && buffers() > count; round += 1) {
      globalThis.gc?.();
      await delay(5);
    }
  }

  describe('views share one record', () => {
    test.each(makers)(
      'L4: $name keeps the memory, and is the last to free it',
      async ({ make }) => {
        await s.synchronize();
        const before = buffers();
        const whole = zeros(t, s, 8);
        const view = make(whole);
        await s.synchronize();
        whole.dispose();
        expect([whole.isDisposed, whole.buffer.isDisposed, view.isDisposed]).toEqual([
          true,
          true,
          false,
        ]);
        expect(() => s.fill(whole, 1)).toThrow(DisposedError);
        expect(buffers()).toBe(before + 1);
        s.fill(view, 0x11);
        const bytes = new Uint8Array(view.bytes);
        await s.read(view, bytes);
        expect(new Set(bytes)).toEqual(new Set([0x11]));
        view.dispose();
        await settlesAt(before);
        expect(() => s.fill(view, 1)).toThrow(DisposedError);
      },
    );

    test.each(makers)('L4: $name disposed, even twice, ends nothing but itself', ({ make }) => {
      const whole = zeros(t, s, 8);
      const [view, other] = [make(whole), make(whole)];
      view.dispose();
      view.dispose();
      expect(() => s.fill(view, 1)).toThrow(DisposedError);
      s.fill(whole, 1).fill(other, 1);
      whole.dispose();
      s.fill(other, 1);
    });

    test('L4: whichever of four is the last one frees the memory', () => {
      const before = buffers();
      for (let order = 0; order < 24; order += 1) {
        const whole = Tensor.allocate(t.device, [8], 'i32', { stream: s });
        const rows = whole.view([2, 4]);
        const left: View[] = [whole, rows, rows.slice(0, 0, 1), whole.buffer.subarray(4)];
        for (let rest = order; left.length > 0; rest = Math.floor(rest / (left.length + 1))) {
          expect(buffers()).toBe(before + 1);
          left.splice(rest % left.length, 1)[0]?.dispose();
        }
        expect(buffers()).toBe(before);
      }
    });

    test('nothing is made of what is disposed', () => {
      const whole = zeros(t, s, 8);
      const { buffer } = whole;
      whole.dispose();
      const uses = [
        () => whole.view([8]),
        () => whole.slice(0, 0, 1),
        () => whole.borrow(),
        () => Tensor.of(whole, [8], 'i32'),
        () => Tensor.of(buffer, [8], 'i32'),
        () => buffer.subarray(0),
      ];
      for (const use of uses) expect(use).toThrow(DisposedError);
      expect(() => whole.view([8])).toThrow(/tensor\.view: tensor i32 \[8\] is disposed/);
    });

    test('L4, L5: the last view is freed after the work of other streams', async () => {
      const other = t.device.createStream();
      const y = zeros(t, s, 1024);
      const view = y.view([2, 512]);
      await s.synchronize();
      spin(t, other, 30);
      accumulate(t, other, view, 1, 5);
      const copy = Tensor.allocate(t.device, [1024], 'i32', { stream: other });
      other.copy(copy, view);
      y.dispose();
      view.dispose();
      for (let index = 0; index < 20; index += 1) zeros(t, s, 1024).dispose();
      expect(new Set(await readInts(other, copy))).toEqual(new Set([5]));
    });

    test('L7, L9: a graph keeps what its nodes reach through a view', async () => {
      const y = zeros(t, s, 4);
      const out = zeros(t, s, 2);
      await s.synchronize();
      const record = () => {
        const half = y.slice(0, 2, 4);
        accumulate(t, s, half, 1, 3);
        s.copy(out, half);
        half.dispose();
        y.dispose();
      };
      const exec = t.device.capture(record, { stream: s }).instantiateSync();
      for (let index = 0; index < 20; index += 1) zeros(t, s, 4).dispose();
      exec.launch(s).launch(s);
      expect(await readInts(s, out)).toEqual([6, 6]);
    });

    test.each(makers)(
      'L3, L4: $name, forgotten, is released by the collector',
      async ({ make }) => {
        await s.synchronize();
        const before = buffers();
        const parents = Array.from({ length: 20 }, () => {
          const whole = Tensor.allocate(t.device, [8], 'i32', { stream: s });
          make(whole);
          whole.dispose();
          return whole;
        });
        expect(buffers()).toBeGreaterThan(before);
        await collectUntil(before);
        expect(buffers()).toBe(before);
        // Disposed wrappers that somebody still has hold nothing up.
        expect(parents).toHaveLength(20);
      },
    );

    test('a view is not collected away while it is used', async () => {
      const before = buffers();
      const view = zeros(t, s, 8).slice(0, 2, 4);
      for (let round = 0; round < 5; round += 1) {
        globalThis.gc?.();
        await delay(5);
      }
      expect(buffers()).toBe(before + 1);
      expect(await readInts(s, view)).toEqual([0, 0]);
    });
  });

  describe('borrowed tensors', () => {
    test('and their views keep nothing, and end with the memory', async () => {
      const before = buffers();
      const whole = zeros(t, s, 8);
      const borrowed = whole.borrow();
      const views = [borrowed, borrowed.view([2, 4]), borrowed.slice(0, 1, 3), borrowed.borrow()];
      views.push(Tensor.of(borrowed, [4], 'u8'));
      for (const view of views) s.fill(view, 1);
      views.pop()?.dispose();
      s.fill(whole, 2);
      expect(await readInts(s, borrowed)).toEqual(new Array(8).fill(0x02020202));
      whole.dispose();
      await settlesAt(before);
      for (const view of views) {
        expect(view.isDisposed).toBe(true);
        expect(() => s.fill(view, 1)).toThrow(DisposedError);
        expect(() => view.slice(0, 0, 1)).toThrow(DisposedError);
      }
    });

    test('are what a workspace hands out: its dispose frees, whatever views there are', async () => {
      const before = buffers();
      const workspace = new Workspace(t.device, { chunkBytes: 4096 });
      const tensors = [workspace.tensor([8], 'i32'), workspace.lane('alt').tensor([8], 'i32')];
      const views = tensors.flatMap((tensor) => [
        tensor,
        tensor.view([2, 4]),
        tensor.slice(0, 0, 1),
      ]);
      for (const view of views) s.fill(view, 1);
      workspace.dispose();
      await settlesAt(before);
      for (const view of views) expect(() => s.fill(view, 1)).toThrow(DisposedError);
    });

    test('are all views of memory that a graph allocates: its dispose is the free', async () => {
      const graph = t.device.createGraph();
      const { node, buffer } = graph.addAlloc(32);
      const views = [Tensor.of(buffer, [8], 'i32'), buffer.subarray(0, 8), buffer.subarray(8)];
      views.push(Tensor.of(buffer, [8], 'i32').view([2, 4]));
      graph.addFill(buffer.subarray(0), 3, 32, [node]);
      const exec = graph.instantiateSync();
      exec.launch(s);
      for (const view of views) s.fill(view, 1);
      views.pop()?.dispose();
      views[1]?.dispose();
      expect(() => exec.launch(s)).toThrow(/was not freed/);
      buffer.dispose();
      for (const view of views) {
        expect(view.isDisposed).toBe(true);
        expect(() => s.fill(view, 1)).toThrow(DisposedError);
      }
      exec.launch(s);
      await s.synchronize();
    });

    test('are what is left of a tensor of a graph when its buffer is disposed, which is the free', async () => {
      const before = buffers();
      let kept: Tensor | undefined;
      const graph = t.device.capture(
        (stream) => {
          kept = Tensor.allocate(t.device, [8], 'i32', { stream, graphOwned: true });
          stream.fill(kept.view([2, 4]), 1);
        },
        { stream: s },
      );
      const exec = graph.instantiateSync();
      exec.launch(s);
      expect(() => exec.launch(s)).toThrow(/was not freed/);
      kept?.buffer.dispose();
      expect(kept?.isDisposed).toBe(true);
      exec.launch(s);
      for (const object of [kept, exec, graph]) object?.dispose();
      await settlesAt(before);
    });

    test('are what scratch memory is: views that a body forgets keep nothing', async () => {
      const before = buffers();
      withScratch(s, (scratch) => {
        const rows = scratch.tensor([2, 4], 'i32');
        s.fill(rows.slice(0, 0, 1), 1).fill(rows.view([8]), 1);
      });
      await settlesAt(before);
    });
  });
});
