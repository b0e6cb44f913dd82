import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KernelParams, type Stream, Tensor } from '../../src/index.js';
import { onEachBackend } from '../../src/testing/on-each-backend.js';
import { openTestRuntime, readInts, type TestRuntime, zeros } from '../makers/test-kernels.js';

const one = { grid: [1], block: [256] } as const;

onEachBackend((backend) => {
  let t: TestRuntime;
  let s: Stream;
  let y: Tensor;
  beforeAll(async () => {
    t = await openTestRuntime({ backend });
    s = t.device.createStream({ name: 's' });
    y = zeros(t, s, 4);
  });
  afterAll(() => t.runtime.dispose());

  const accumulate = (params: object) =>
    s.launch(t.kernels.accumulate, one, params as KernelParams);

  // A launch is encoded in the order of the one before it, so each call comes behind good ones.
  const settle = () => {
    for (let index = 0; index < 3; index += 1) accumulate({ y, count: 4, factor: 0, x: 1 });
  };

  test('fields may come in any order, also in another one each time', async () => {
    for (let index = 0; index < 40; index += 1) {
      accumulate({ y, count: 4, factor: 0, x: index });
      accumulate({ x: 2, factor: 1, count: 4, y });
      accumulate({ count: 4, x: 3, y, factor: 10 });
      if (index % 13 === 0) expect(await readInts(s, y)).toEqual(Array(4).fill(10 * index + 23));
    }
    expect(await readInts(s, y)).toEqual(Array(4).fill(10 * 39 + 23));
  });

  test('a bool is one byte of the struct, next to others', async () => {
    const choose = t.module.kernel('test_choose');
    expect(choose.params).toMatchObject({ bytes: 24 });
    expect(choose.params.fields.map(({ type, offset }) => [type, offset])).toEqual([
      ['buf', 0],
      ['bool', 8],
      ['i32', 12],
      ['i32', 16],
      ['bool', 20],
      ['bool', 21],
    ]);
    const results: number[] = [];
    for (const first of [true, false]) {
      for (const negate of [true, false]) {
        const params = { y: y.slice(0, 0, 1), negate, a: 7, b: -1, first, twice: !first };
        s.launch(choose, { grid: [1], block: [1] }, params);
        results.push((await readInts(s, y))[0] ?? 0);
      }
    }
    expect(results).toEqual([-7, 7, 2, -2]);
    const params = { y: y.slice(0, 0, 1), negate: 1, a: 0, b: 0, first: true, twice: true };
    const launch = () => s.launch(choose, { grid: [1], block: [1] }, params);
    expect(launch).toThrow('`negate` is 1, expected a bool');
  });

  test('null, a tensor and a buffer take turns in one field', async () => {
    const a = Tensor.allocate(t.device, [4], 'f32', { stream: s });
    const out = Tensor.allocate(t.device, [4], 'f32', { stream: s });
    s.write(a, Float32Array.of(1, 2, 3, 4));
    const results: number[][] = [];
    for (const b of [null, a, a.buffer, null]) {
      s.launch(t.kernels.add, one, { a, b, y: out, count: 4, scale: 2 });
      const values = new Float32Array(4);
      await s.read(out, values);
      results.push([...values]);
    }
    const [alone, twice] = [
      [2, 4, 6, 8],
      [4, 8, 12, 16],
    ];
    expect(results).toEqual([alone, twice, twice, alone]);
  });

  describe('behind good launches', () => {
    test.each<[string, () => object, RegExp]>([
      ['a missing field', () => ({ y, count: 4, factor: 1 }), /missing: x/],
      ['an unknown field', () => ({ y, count: 4, factor: 1, x: 1, z: 1 }), /unknown: z/],
      ['a wrong name', () => ({ y, count: 4, factor: 1, X: 1 }), /missing: x; unknown: X/],
      ['a wrong value', () => ({ y, count: 4, factor: 1, x: 0.5 }), /`x` is 0.5, expected an i32/],
      ['a null', () => ({ y: null, count: 4, factor: 1, x: 1 }), /`y` is null, expected a tensor/],
      [
        'two wrong ones, the struct decides which is told',
        () => ({ x: 0.5, factor: 0.25, count: 4, y }),
        /`factor` is 0.25/,
      ],
      [
        'another element type',
        () => ({ y: Tensor.of(y.buffer, [4], 'f32'), count: 4, factor: 1, x: 1 }),
        /`y` is f32 \[4\], expected i32/,
      ],
    ])('%s is refused by name', (_, params, message) => {
      settle();
      expect(() => accumulate(params())).toThrow(message);
      expect(() => accumulate(params())).toThrow(message);
      settle();
    });

    test('disposed memory is refused', () => {
      const gone = zeros(t, s, 4);
      accumulate({ y: gone, count: 4, factor: 1, x: 1 });
      gone.dispose();
      expect(() => accumulate({ y: gone, count: 4, factor: 1, x: 1 })).toThrow(/is disposed/);
    });

    test('a hidden field with a name too many in its place mixes nothing up', async () => {
      const hidden = Object.defineProperty({ y, count: 4, factor: 0, extra: 7 }, 'x', { value: 5 });
      for (let index = 0; index < 3; index += 1) accumulate(hidden);
      settle();
      accumulate(hidden);
      expect(await readInts(s, y)).toEqual([5, 5, 5, 5]);
    });
  });
});
