import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ArgumentError,
  type DeviceBuffer,
  exportHandle,
  importHandle,
  open,
  type Runtime,
  type Stream,
  Tensor,
} from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { type TestRuntime, testRuntimeOf } from '../makers/test-kernels.js';

onEachBackend((backend) => {
  let runtime: Runtime;
  let t: TestRuntime;
  let s: Stream;

  beforeAll(async () => {
    runtime = await open({ backend });
    t = await testRuntimeOf(runtime);
    s = t.device.createStream({ name: 's' });
  });
  afterAll(() => runtime.dispose());

  function sixteen(): DeviceBuffer {
    const buffer = t.device.alloc(16, { stream: s, label: 'sixteen' });
    s.fill(buffer, 0);
    return buffer;
  }

  async function bytesOf(buffer: DeviceBuffer): Promise<number[]> {
    const bytes = new Uint8Array(buffer.bytes);
    await s.read(buffer, bytes);
    return [...bytes];
  }

  describe('buffer.subarray', () => {
    test.each([
      { range: [4, 8], byteOffset: 4, bytes: 8 },
      { range: [4], byteOffset: 4, bytes: 12 },
      { range: [0], byteOffset: 0, bytes: 16 },
      { range: [16], byteOffset: 16, bytes: 0 },
      { range: [3, 0], byteOffset: 3, bytes: 0 },
    ] as const)('of $range is $bytes bytes', ({ range: [start, length], ...expected }) => {
      using buffer = sixteen();
      using part = buffer.subarray(start, length);
      expect(part).toMatchObject({ ...expected, label: 'sixteen', device: t.device });
    });

    test('of a subarray counts from that one, and knows its place in the memory', () => {
      using buffer = sixteen();
      using part = buffer.subarray(4, 8);
      using inner = part.subarray(2, 4);
      expect(inner).toMatchObject({ byteOffset: 6, bytes: 4 });
      expect(() => part.subarray(2, 7)).toThrow(/`byteLength` is 7, expected 0 … 6/);
    });

    test.each([
      [[-1], /`byteOffset` is -1, expected 0 … 16/],
      [[17], /`byteOffset` is 17, expected 0 … 16/],
      [[1.5], /`byteOffset` is 1\.5/],
      [['4'], /`byteOffset` is "4"/],
      [[undefined], /`byteOffset` is undefined/],
      [[8, 9], /`byteLength` is 9, expected 0 … 8/],
      [[8, -1], /`byteLength` is -1/],
      [[0, null], /`byteLength` is null/],
      [[0, Number.NaN], /`byteLength` is NaN/],
    ])('of %j is an ArgumentError', (range, message) => {
      using buffer = sixteen();
      const call = () => buffer.subarray(...(range as [number, number]));
      expect(call).toThrow(ArgumentError);
      expect(call).toThrow(message);
    });
  });

  describe('a subarray is taken wherever a buffer is', () => {
    test('by fill, write, read and copy, which stay inside it', async () => {
      using buffer = sixteen();
      using part = buffer.subarray(4, 4);
      s.fill(part, 7);
      expect(await bytesOf(buffer)).toEqual([0, 0, 0, 0, 7, 7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
      using end = buffer.subarray(12);
      s.write(end, Uint8Array.of(1, 2, 3, 4)).copy(part, end);
      expect(await bytesOf(part)).toEqual([1, 2, 3, 4]);
      expect(() => s.fill(part, 1, 5)).toThrow(/`bytes` is 5, expected 0 … 4/);
      expect(() => s.copy(buffer, part, 5)).toThrow(/expected 0 … 4/);
      expect(() => s.write(part, new Uint8Array(5))).toThrow(ArgumentError);
    });

    test('by launches, which see its size and its place', async () => {
      using buffer = sixteen();
      using part = buffer.subarray(8, 8);
      const launch = (y: DeviceBuffer, count: number) => {
        const params = { y, count, factor: 1, x: 5 };
        s.launch(t.kernels.accumulate, { grid: [1], block: [32] }, params);
      };
      launch(part, 2);
      using all = Tensor.of(buffer, [4], 'i32');
      const values = new Int32Array(4);
      await s.read(all, values);
      expect([...values]).toEqual([0, 0, 5, 5]);
      using odd = buffer.subarray(2, 4);
      expect(() => launch(odd, 1)).toThrow(ArgumentError);
      expect(() => launch(odd, 1)).toThrow(/`y` begins at byte 2 of its memory.*multiple of 4/);
    });

    test('by the nodes of explicit graphs', async () => {
      using buffer = sixteen();
      using first = buffer.subarray(0, 4);
      using last = buffer.subarray(12, 4);
      using graph = t.device.createGraph();
      const fill = graph.addFill(last, 9, 4);
      graph.addCopy(first, last, 4, [fill]);
      using exec = graph.instantiateSync();
      exec.launch(s);
      expect(await bytesOf(buffer)).toEqual([9, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9]);
    });

    test('by Tensor.of, whose place is counted in the memory', () => {
      using buffer = sixteen();
      using part = buffer.subarray(4, 8);
      using tensor = Tensor.of(part, [1], 'i32', { byteOffset: 4 });
      expect(tensor).toMatchObject({ byteOffset: 8, buffer });
      const of = (shape: number[], byteOffset: number, from = part) =>
        Tensor.of(from, shape, 'i32', { byteOffset });
      expect(() => of([2], 4)).toThrow(/covers bytes \[4, 12\) of a buffer of 8/);
      using odd = buffer.subarray(2);
      expect(() => of([1], 0, odd)).toThrow(/from byte 2 of the memory, expected a multiple of 4/);
      expect(of([1], 2, odd).byteOffset).toBe(4);
    });

    test('by exportHandle: another wrapper of the same part', async () => {
      using buffer = sixteen();
      const part = buffer.subarray(4, 8);
      const token = exportHandle(part);
      part.dispose();
      using other = importHandle(token, 'buffer');
      expect(other).toMatchObject({ byteOffset: 4, bytes: 8, label: 'sixteen' });
      s.fill(other, 3);
      using middle = buffer.subarray(4, 8);
      expect(await bytesOf(middle)).toEqual(new Array(8).fill(3));
      const forged = exportHandle(buffer);
      expect(() => importHandle(`${forged}@8+9`)).toThrow(/`byteLength` is 9, expected 0 … 8/);
      const stream = exportHandle(s);
      expect(() => importHandle(`${stream}@0+1`)).toThrow(ArgumentError);
    });

    test('by the free of what a graph allocates, also when the buffer was disposed', async () => {
      const before = runtime.stats().live['buffer'] ?? 0;
      using graph = t.device.createGraph();
      const { node, buffer } = graph.addAlloc(64);
      const all = buffer.subarray(0);
      const filled = graph.addFill(all, 1, 32, [node]);
      graph.addFree(all, [filled]);
      all.dispose();
      expect(() => buffer.dispose()).toThrow(/freed by a node/);
      using exec = graph.instantiateSync();
      exec.launch(s).launch(s);
      await s.synchronize();
      expect(runtime.stats().live['buffer'] ?? 0).toBeGreaterThan(before);
    });

    test('but by no free if it is a part: that would end the whole', () => {
      using graph = t.device.createGraph();
      const { node, buffer } = graph.addAlloc(64, [], 'whole');
      for (const part of [buffer.subarray(32), buffer.subarray(0, 32), buffer.subarray(64)]) {
        expect(() => graph.addFree(part, [node])).toThrow(ArgumentError);
      }
      const first = buffer.subarray(0, 32);
      expect(() => graph.addFree(first)).toThrow(
        /`buffer` is bytes 0 … 32 of buffer whole, expected all 64/,
      );
      expect(graph.nodes).toHaveLength(1);
      buffer.dispose();
      s.beginCapture();
      using owned = Tensor.allocate(t.device, [4], 'i32', { stream: s, graphOwned: true });
      const parts = [owned.slice(0, 0, 2), owned.slice(0, 2, 4), owned.buffer.subarray(4)];
      for (const part of parts) expect(() => s.free(part)).toThrow(/`memory` is bytes .* all 16/);
      s.free(owned.view([2, 2]));
      s.abortCapture();
    });
  });
});
