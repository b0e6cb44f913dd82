import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DisposedError,
  exportHandle,
  importHandle,
  NotOwnerError,
  open,
  type Stream,
  Tensor,
  Workspace,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { readInts, type TestRuntime, testRuntimeOf } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;
  const buffers = () => t.runtime.stats().live['buffer'] ?? 0;

  beforeAll(async () => {
    t = await testRuntimeOf(await open({ backend }));
    s = t.device.createStream({ name: 's' });
  });
  afterAll(() => t.runtime.dispose());

  describe('the buffer of a workspace’s tensor', () => {
    test('is not its user’s to dispose: the arena and its tensors stay', async () => {
      using workspace = new Workspace(t.device, { label: 'step', chunkBytes: 4096 });
      const [a, b] = [workspace.tensor([4], 'i32'), workspace.tensor([4], 'i32')];
      expect(() => a.buffer.dispose()).toThrow(NotOwnerError);
      expect(() => a.buffer.dispose()).toThrow(/buffer step#0 is a piece of a workspace/);
      expect(() => a.buffer[Symbol.dispose]()).toThrow(/Dispose the workspace/);
      expect([a.isDisposed, a.buffer.isDisposed, b.buffer === a.buffer]).toEqual([
        false,
        false,
        true,
      ]);
      s.fill(b, 1);
      expect(await readInts(s, b)).toEqual(new Array(4).fill(0x01010101));
      expect(workspace.bytes).toBe(4096);
    });

    test('gives parts that end alone, and with the arena; then its own end is no mistake', async () => {
      const before = buffers();
      const workspace = new Workspace(t.device, { chunkBytes: 4096 });
      const { buffer } = workspace.lane('alt').tensor([4], 'i32');
      const [part, other] = [buffer.subarray(0, 16), buffer.subarray(16, 16)];
      const view = Tensor.of(buffer, [4], 'i32');
      part.dispose();
      s.fill(other, 1).fill(view, 2);
      await s.synchronize();
      workspace.dispose();
      await expect.poll(buffers).toBe(before);
      for (const ended of [buffer, other, view]) {
        expect(ended.isDisposed).toBe(true);
        expect(() => s.fill(ended, 1)).toThrow(DisposedError);
      }
      buffer.dispose();
    });

    test('is passed to another thread as any other: that wrapper keeps the memory', async () => {
      const workspace = new Workspace(t.device, { chunkBytes: 4096 });
      const tensor = workspace.tensor([4], 'i32');
      s.fill(tensor, 3);
      const other = importHandle(exportHandle(tensor.buffer), 'buffer');
      workspace.dispose();
      using view = Tensor.of(other, [4], 'i32');
      other.dispose();
      expect(await readInts(s, view)).toEqual(new Array(4).fill(0x03030303));
    });
  });

  describe('memory of a graph that a thread imports', () => {
    function escaping() {
      const graph = t.device.createGraph();
      const { node, buffer } = graph.addAlloc(32);
      graph.addFill(buffer, 3, 32, [node]);
      return { exec: graph.instantiateSync(), buffer };
    }

    test('is lent there, too: the last buffer’s end is the free, whatever views there are', async () => {
      const { exec, buffer } = escaping();
      const other = importHandle(exportHandle(buffer), 'buffer');
      const views = [Tensor.of(other, [8], 'i32'), other.subarray(0, 8)];
      exec.launch(s);
      for (const view of views) s.fill(view, 1);
      buffer.dispose();
      expect(() => exec.launch(s)).toThrow(/was not freed/);
      other.dispose();
      for (const view of views) {
        expect(view.isDisposed).toBe(true);
        expect(() => s.fill(view, 1)).toThrow(DisposedError);
      }
      exec.launch(s).launch(s);
      await s.synchronize();
    });

    test('of a part stands for the buffer: its end is the free', async () => {
      const { exec, buffer } = escaping();
      const part = importHandle(exportHandle(buffer.subarray(8, 16)), 'buffer');
      expect(part).toMatchObject({ byteOffset: 8, bytes: 16 });
      const inner = part.subarray(4);
      buffer.dispose();
      exec.launch(s);
      s.fill(inner, 1);
      expect(() => exec.launch(s)).toThrow(/was not freed/);
      inner.dispose();
      expect(part.isDisposed).toBe(false);
      part.dispose();
      exec.launch(s).launch(s);
      await s.synchronize();
    });
  });
});
