import { Workspace } from '@altstream/cuda-runtime';
import {
  describeEachBackend,
  downloadRaw,
  expectClose,
  upload,
} from '@altstream/cuda-runtime/testing';
import { expect } from 'vitest';
import { loadAttentionKernels, qkNormRope } from '../src/index.js';
import { qkNormRopeCases } from './cases/qk-norm-rope.js';
import { seedNote } from './makers/fresh-seed.js';
import { makeHeads, uploadHeads } from './makers/qk-norm-rope-input.js';
import { readNumbers } from './makers/read-numbers.js';
import { ropeTolerance } from './makers/tolerances.js';
import { referenceNormRope } from './reference/qk-norm-rope.js';

const theta = 5e6;

describeEachBackend(
  'qkNormRope',
  qkNormRopeCases,
  async ({ stream, device, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const { positions, rotaryDim, dtype, normed = true } = testCase;
    const all = makeHeads(testCase);
    const input = uploadHeads(stream, testCase, all);
    using allocator = new Workspace(device);
    stream.fill(allocator.tensor([2 ** 20], 'u8'), 0xa5);
    allocator.reset();
    const outputs = qkNormRope(input, { stream, allocator, rotaryDim, theta });
    const rope = { positions, rotaryDim, theta, eps: 1e-6 };
    for (const { name, x, heads, dims, weight } of all) {
      if (name === 'v') continue;
      const output = outputs[name];
      if (!output) throw new Error(`no output ${name}`);
      expect(output.shape).toEqual([positions.length, heads, dims]);
      const expected = referenceNormRope({ x, heads, dims, ...(normed && { weight }) }, rope);
      const tolerance = { ...ropeTolerance[dtype], message: `${name}, ${seedNote}` };
      expectClose(await readNumbers(stream, output), expected, tolerance);
    }
  },
);

const one = [{ name: 'one head of four' }];

describeEachBackend(
  'qkNormRope pairs the halves of the rotated part and leaves the rest alone',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const head = upload(stream, [1, 2, 3, 4, 5, 6], [1, 1, 6], 'f32');
    const positions = upload(stream, [1], [1], 'i32');
    const { q } = qkNormRope({ q: head, k: head, positions }, { stream, rotaryDim: 4, theta: 1e4 });
    const [a, b, c, s] = [Math.cos(1), Math.sin(1), Math.cos(0.01), Math.sin(0.01)];
    const expected = [a - 3 * b, 2 * c - 4 * s, 3 * a + b, 4 * c + 2 * s, 5, 6];
    expectClose(await readNumbers(stream, q), expected, { absolute: 1e-6 });
  },
);

describeEachBackend(
  'vmlx#226: the norm adds 1 to its weight once, so a zero weight is a plain norm',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const head = upload(stream, [3, 4, 0, 0], [1, 1, 4], 'f32');
    const weight = (value: number) => upload(stream, [value, value, value, value], [4], 'f32');
    const positions = upload(stream, [0], [1], 'i32');
    const tensors = { q: head, k: head, positions, qWeight: weight(0), kWeight: weight(1) };
    const { q, k } = qkNormRope(tensors, { stream, rotaryDim: 2, theta, eps: 0 });
    expectClose(await readNumbers(stream, q), [1.2, 1.6, 0, 0], { absolute: 1e-6 });
    expectClose(await readNumbers(stream, k), [2.4, 3.2, 0, 0], { absolute: 1e-6 });
  },
);

describeEachBackend(
  'qkNormRope forms the angle in fp32 and reduces it fully near position 1 Mi',
  one,
  async ({ stream, runtime }) => {
    await loadAttentionKernels(runtime);
    const data = Array.from({ length: 64 }, (_, i) => (i < 32 ? 1 : 0));
    const head = upload(stream, data, [1, 1, 64], 'f32');
    const position = 1_000_003;
    const positions = upload(stream, [position], [1], 'i32');
    const { q } = qkNormRope({ q: head, k: head, positions }, { stream, rotaryDim: 64, theta });
    const rotated = await readNumbers(stream, q);
    const cosine = (i: number, round: (x: number) => number) =>
      Math.cos(round(position * round(theta ** (-i / 32))));
    const index = Array.from({ length: 32 }, (_, i) => i);
    const inFp32 = index.map((i) => cosine(i, Math.fround));
    expectClose(rotated.slice(0, 32), inFp32, { absolute: 1e-7 });
    const offBy = index.map((i) => Math.abs(cosine(i, (x) => x) - (inFp32[i] ?? 0)));
    expect(Math.max(...offBy)).toBeGreaterThan(0.005); // a double angle would be seen
  },
);

describeEachBackend(
  'qkNormRope gives a token the same bits in a batch and alone, and takes no tokens',
  [qkNormRopeCases.find(({ name }) => name === 'M3, fused, bf16')].flatMap((found) => found ?? []),
  async ({ stream, runtime }, testCase) => {
    await loadAttentionKernels(runtime);
    const input = uploadHeads(stream, testCase, makeHeads(testCase));
    const options = { stream, rotaryDim: testCase.rotaryDim, theta };
    const whole = await downloadRaw(stream, qkNormRope(input, options).q);
    const alone = (start: number, end: number) => {
      const { q, k, positions } = input;
      const rows = [q, k, positions].map((tensor) => tensor.slice(0, start, end));
      const [q1 = q, k1 = k, positions1 = positions] = rows;
      const weights = { qWeight: input.qWeight, kWeight: input.kWeight };
      return qkNormRope({ q: q1, k: k1, positions: positions1, ...weights }, options).q;
    };
    const rowBytes = whole.length / testCase.positions.length;
    const single = Buffer.from(await downloadRaw(stream, alone(3, 4)));
    expect(single.equals(whole.subarray(3 * rowBytes, 4 * rowBytes))).toBe(true);
    expect(alone(0, 0).shape).toEqual([0, 64, 128]);
  },
);
