import type { Tensor } from '@altstream/cuda-runtime';
import { expect, test } from 'vitest';
import { fakeStream, fakeTensor, limits } from '../test/makers/fake-stream.js';
import { referencePhilox, referenceUnit } from '../test/reference/philox.js';
import { type SampleInput, sample } from './sampling.js';
import { planSampling } from './sampling.plan.js';

function makeInput(rows: number, vocab: number, changed: Record<string, Tensor> = {}): SampleInput {
  return {
    logits: fakeTensor([rows, vocab], 'f32'),
    temperature: fakeTensor([rows], 'f32'),
    topK: fakeTensor([rows], 'i32'),
    topP: fakeTensor([rows], 'f32'),
    minP: fakeTensor([rows], 'f32'),
    seeds: fakeTensor([rows], 'i64'),
    positions: fakeTensor([rows], 'i32'),
    ...changed,
  };
}

test('gives scratch on the CPU to as many rows as it works on at once', () => {
  const cpu = { ...limits, cpuLevel: 'avx2' };
  expect(planSampling({ rows: 256, vocab: 1000 }, cpu)).toEqual({
    launches: [{ kernel: 'sampling', config: { grid: [4], block: [1] }, firstRow: 0 }],
    slots: 4,
    workspaceBytes: 32_000,
  });
  expect(planSampling({ rows: 2, vocab: 1000 }, cpu).slots).toBe(2);
});

const h200 = { ...limits, processors: 132 };

test.each([
  { rows: 1, vocab: 200_064, grids: [98, 98, 98] },
  { rows: 1, vocab: 2048, grids: [1, 1, 1] },
  { rows: 64, vocab: 200_064, grids: [6, 6, 4] },
  { rows: 1000, vocab: 200_064, grids: [1, 1, 1] },
])('splits $rows rows of $vocab ids over $grids blocks each', ({ rows, vocab, grids }) => {
  const { launches, workspaceBytes } = planSampling({ rows, vocab }, h200);
  expect(launches.map(({ kernel }) => kernel)).toEqual([
    'sampling_facts',
    'sampling_weights',
    'sampling',
  ]);
  expect(launches.map(({ config }) => config.grid)).toEqual(grids.map((blocks) => [blocks, rows]));
  expect(workspaceBytes).toBe(rows * (38_968 + 32 * Math.ceil(vocab / 2048)));
});

test('lets batches above 1024 rows take turns with the scratch', () => {
  const { launches, slots } = planSampling({ rows: 2500, vocab: 24 }, h200);
  expect(slots).toBe(1024);
  const turns = launches.filter(({ kernel }) => kernel === 'sampling');
  expect(turns.map(({ firstRow, config }) => [firstRow, config.grid])).toEqual([
    [0, [1, 1024]],
    [1024, [1, 1024]],
    [2048, [1, 452]],
  ]);
});

test('launches with every row array and the scratch of the plan', async () => {
  const { stream, launches } = await fakeStream();
  const result = sample(makeInput(6, 50), { stream });
  expect([result.ids.dtype, result.logprobs.dtype]).toEqual(['i32', 'f32']);
  expect(launches.map(({ kernel }) => kernel)).toEqual([
    'sampling_facts',
    'sampling_weights',
    'sampling',
  ]);
  const params = { rows: 6, vocab: 50, slots: 6, first_row: 0, logits_stride: 50 };
  for (const launch of launches) {
    expect(launch.params).toMatchObject({ ...params, workspace: { shape: [234_000] } });
  }
});

test('launches nothing for no rows, but still checks', async () => {
  const { stream, launches } = await fakeStream();
  expect(sample(makeInput(0, 50), { stream }).ids.shape).toEqual([0]);
  expect(launches).toEqual([]);
  expect(() => sample(makeInput(0, 0), { stream })).toThrow('at least one column');
});

test('refuses wrong arguments by name', async () => {
  const { stream } = await fakeStream();
  const refused = (changed: Record<string, Tensor>, argument: string, code: string) =>
    expect(() => sample(makeInput(6, 50, changed), { stream })).toThrow(
      expect.objectContaining({ operation: 'sample', argument, code }),
    );
  refused({ logits: fakeTensor([6, 50], 'bf16') }, 'logits', 'DENSE_DTYPE');
  refused({ temperature: fakeTensor([5], 'f32') }, 'temperature', 'DENSE_SHAPE');
  refused({ topK: fakeTensor([6], 'f32') }, 'topK', 'DENSE_DTYPE');
  refused({ seeds: fakeTensor([6], 'i32') }, 'seeds', 'DENSE_DTYPE');
  refused({ positions: fakeTensor([6, 1], 'i32') }, 'positions', 'DENSE_SHAPE');
  refused({ minP: fakeTensor([6], 'f32', { elsewhere: true }) }, 'minP', 'DENSE_DEVICE');
  const out = { ids: fakeTensor([6], 'i64'), logprobs: fakeTensor([6], 'f32') };
  expect(() => sample(makeInput(6, 50), { stream, out })).toThrow('sample: out.ids must be i32');
});

// Known-answer vectors of Random123 (kat_vectors, philox4x32 10). The native generator is held to
// the same three at compile time, in native/include/dense_kernels/random/philox.h.
const vectors = [
  {
    counter: '00000000 00000000 00000000 00000000',
    key: 0n,
    expected: '6627e8d5 e169c58d bc57ac4c 9b00dbd8',
  },
  {
    counter: 'ffffffff ffffffff ffffffff ffffffff',
    key: 0xffff_ffff_ffff_ffffn,
    expected: '408f276d 41c83b0e a20bc7c6 6d5451fd',
  },
  {
    counter: '243f6a88 85a308d3 13198a2e 03707344',
    key: 0x299f_31d0_a409_3822n,
    expected: 'd16cfe09 94fdcceb 5001e420 24126ea1',
  },
];

const words = (text: string) => text.split(' ').map((word) => Number.parseInt(word, 16));

test.each(vectors)('the reference generator gives $expected', ({ counter, key, expected }) => {
  expect(referencePhilox(words(counter), key)).toEqual(words(expected));
});

test('a negative seed is its two’s complement', () => {
  expect(referenceUnit(-1n, 3)).toBe(referenceUnit(0xffff_ffff_ffff_ffffn, 3));
});
