import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DisposedError, type Stream, Tensor, Workspace } from '../src/index.js';
import { download, downloadRaw, poison, upload } from '../src/testing/index.js';
import { onEachBackend } from '../src/testing/on-each-backend.js';
import { openTestRuntime, readInts, type TestRuntime } from './makers/test-kernels.js';

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;

  beforeAll(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 's' });
  });
  afterAll(() => t.runtime.dispose());

  describe('Tensor', () => {
    test('views of what is disposed are refused as such, whatever is asked for', () => {
      const tensor = s.tensor([4], 'i32');
      tensor.dispose();
      const calls = [
        () => tensor.view([5]),
        () => tensor.view('x' as never),
        () => tensor.slice(3, 0, 1),
        () => tensor.slice(0, 0, 9),
      ];
      for (const call of calls) expect(call).toThrow(DisposedError);
    });

    test('knows its sizes, and what a view covers', () => {
      const tensor = Tensor.allocate(t.device, [3, 4], 'bf16');
      expect(tensor).toMatchObject({ elements: 12, bytes: 24, spanBytes: 24, strides: [4, 1] });
      const column = tensor.slice(1, 1, 3);
      expect(column).toMatchObject({ shape: [3, 2], byteOffset: 2, isContiguous: false });
      expect(column).toMatchObject({ bytes: 12, spanBytes: 20 });
      expect(tensor.slice(0, 1, 2)).toMatchObject({ isContiguous: true, byteOffset: 8, bytes: 8 });
      expect(tensor.view([2, -1])).toMatchObject({ shape: [2, 6], isContiguous: true });
      expect(tensor.slice(0, 2, 2)).toMatchObject({
        elements: 0,
        spanBytes: 0,
        isContiguous: true,
      });
      expect(Tensor.allocate(t.device, [], 'f32')).toMatchObject({
        elements: 1,
        bytes: 4,
        rank: 0,
      });
      expect(tensor instanceof Tensor).toBe(true);
      expect({} instanceof Tensor).toBe(false);
    });

    test.each([
      [[0, 8], 1, 4],
      [[4, 8], 0, 4],
    ])('an empty slice of an empty slice is work for nobody: %o', async (shape, dim, start) => {
      const empty = Tensor.allocate(t.device, shape, 'i32').slice(dim, start, start);
      const emptier = empty.slice(1 - dim, 0, 0).slice(dim, 0, 0);
      for (const tensor of [empty, emptier]) {
        s.fill(tensor, 0);
        s.write(tensor, new Int32Array(0));
        expect(await readInts(s, tensor)).toEqual([]);
      }
    });

    test('a slice shares memory with its tensor', async () => {
      const whole = upload(s, [1, 2, 3, 4], [2, 2], 'i32');
      s.write(whole.slice(0, 1, 2), Int32Array.of(8, 9));
      expect(await readInts(s, whole)).toEqual([1, 2, 8, 9]);
    });

    test.each(['f32', 'bf16', 'f16', 'e4m3', 'i32', 'u8'] as const)(
      '%s survives a round trip',
      async (dtype) => {
        const values = dtype === 'u8' ? [0, 1, 200, 3] : [0, -1, 2, -3];
        const tensor = upload(s, values, [4], dtype);
        expect([...(await download(s, tensor))]).toEqual(values);
        poison(s, tensor);
        expect(new Set(await downloadRaw(s, tensor))).toEqual(new Set([0xa5]));
      },
    );

    test('e8m0 and i64 survive a round trip', async () => {
      const scales = upload(s, [0.5, 1, 8], [3], 'e8m0');
      expect([...(await download(s, scales))]).toEqual([0.5, 1, 8]);
      const longs = upload(s, [2n ** 62n, -5n], [2], 'i64');
      expect([...(await download(s, longs))]).toEqual([2n ** 62n, -5n]);
    });
  });

  describe('Workspace', () => {
    const place = ({ buffer, byteOffset }: Tensor) => [buffer, byteOffset];

    test('the same calls after reset give the same places, also after it has grown', () => {
      const workspace = new Workspace(t.device, { chunkBytes: 1024 });
      const step = () => [
        workspace.tensor([3], 'f32'),
        workspace.tensor([900], 'u8'),
        workspace.tensor([5000], 'u8'),
        workspace.tensor([1], 'i64'),
      ];
      const first = step().map(place);
      workspace.reset();
      for (let index = 0; index < 9; index += 1) workspace.tensor([700], 'u8');
      workspace.reset();
      expect(step().map(place)).toEqual(first);
      expect(workspace.bytes).toBeGreaterThanOrEqual(5000 + 1024);
      workspace.dispose();
    });

    test('tensors do not overlap and are aligned to 256 bytes', () => {
      const workspace = new Workspace(t.device, { chunkBytes: 4096 });
      const tensors = [1, 100, 0, 257, 3000].map((bytes) => workspace.tensor([bytes], 'u8'));
      for (const [index, tensor] of tensors.entries()) {
        expect(tensor.byteOffset % 256).toBe(0);
        for (const other of tensors.slice(index + 1)) {
          if (other.buffer !== tensor.buffer) continue;
          expect(other.byteOffset).toBeGreaterThanOrEqual(tensor.byteOffset + tensor.bytes);
        }
      }
      workspace.dispose();
    });

    test('release goes back to a mark, and only back', () => {
      const workspace = new Workspace(t.device);
      const early = workspace.mark();
      const first = workspace.tensor([8], 'f32');
      const late = workspace.mark();
      workspace.release(early);
      expect(place(workspace.tensor([8], 'f32'))).toEqual(place(first));
      workspace.release(early);
      expect(() => workspace.release(late)).toThrow(/not an earlier point/);
      expect(() => new Workspace(t.device).release(early)).toThrow(/not an earlier point/);
    });

    test('a lane is disjoint, keeps its name, and is reset and disposed with its parent', () => {
      const workspace = new Workspace(t.device, { chunkBytes: 512 });
      const lane = workspace.lane('alt');
      expect(workspace.lane('alt')).toBe(lane);
      const [a, b] = [workspace.tensor([4], 'f32'), lane.tensor([4], 'f32')];
      expect(a.buffer).not.toBe(b.buffer);
      workspace.reset();
      expect(place(lane.tensor([4], 'f32'))).toEqual(place(b));
      workspace.dispose();
      expect(() => lane.tensor([1], 'u8')).toThrow(/disposed/);
    });
  });
});
