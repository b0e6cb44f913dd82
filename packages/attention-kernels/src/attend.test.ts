import { expect, test } from 'vitest';
import { cpuLimits, h200Limits } from '../test/makers/fake-tensor.js';
import type { AttendShape } from './attend.plan.js';
import { planPagedAttention } from './paged-attention.plan.js';
import { planSparseAttention } from './sparse-attention.plan.js';

const m3: AttendShape = {
  ...{ tokens: 1, sequences: 1, heads: 64, kvHeads: 4, headDim: 128, mostKeys: 8192 },
  ...({ dtype: 'bf16', isAligned: true } as const),
};

test('on the CPU a block per token and KV head, whatever the sizes', () => {
  expect(planPagedAttention({ ...m3, tokens: 5 }, cpuLimits)).toEqual({
    ...{ kernel: 'paged_attention_bf16', config: { grid: [5, 4], block: [128] } },
    ...{ workspaceBytes: 0, pieces: 0, pieceKeys: 0 },
  });
});

test('without tensor cores a warp per head', () => {
  const plan = (change: object) => planSparseAttention({ ...m3, ...change }, h200Limits);
  expect(plan({ dtype: 'f32' })).toMatchObject({
    kernel: 'sparse_attention_f32',
    config: { grid: [1, 16], block: [128], sharedBytes: (32 * 129 + 4 * 128) * 4 },
    pieces: 0,
  });
  expect(plan({ headDim: 96 }).kernel).toBe('sparse_attention_bf16');
  expect(plan({ isAligned: false }).kernel).toBe('sparse_attention_bf16');
  expect(plan({ heads: 12, headDim: 32 }).config.grid).toEqual([1, 4]);
});

test('a decode step splits its rows into pieces that run at the same time', () => {
  expect(planPagedAttention(m3, h200Limits)).toEqual({
    kernel: 'paged_attention_bf16_pieces',
    config: { grid: [1, 4, 64], block: [128], sharedBytes: 75_024 },
    ...{ workspaceBytes: 64 * 64 * 130 * 4, pieces: 64, pieceKeys: 128 },
  });
});

test('the blocks of few pieces are a cluster that joins them: no scratch, no other launch', () => {
  const m3Sparse = { ...m3, heads: 16, kvHeads: 1, mostKeys: 2048 };
  const plan = (change: object, limits: object = {}) =>
    planSparseAttention({ ...m3Sparse, ...change }, { ...h200Limits, ...limits });
  const config = { grid: [1, 1, 16], block: [128], sharedBytes: 75_024 };
  expect(plan({})).toEqual({
    kernel: 'sparse_attention_bf16_cluster',
    config: { ...config, cluster: [1, 1, 16], nonPortableCluster: true },
    ...{ workspaceBytes: 0, pieces: 0, pieceKeys: 0 },
  });
  const short = { cluster: [1, 1, 8], nonPortableCluster: false };
  expect(plan({ mostKeys: 1024 }).config).toMatchObject(short);
  expect(planPagedAttention({ ...m3Sparse, mostKeys: 130 }, h200Limits)).toMatchObject({
    kernel: 'paged_attention_bf16_cluster',
    config: { grid: [1, 1, 2], cluster: [1, 1, 2] },
  });

  const twoLaunches = 'sparse_attention_bf16_pieces';
  expect(plan({ mostKeys: 2049 }).kernel).toBe(twoLaunches);
  expect(plan({}, { sm: '8.0' })).toEqual({
    ...{ kernel: twoLaunches, config, workspaceBytes: 16 * 16 * 130 * 4, pieces: 16 },
    pieceKeys: 128,
  });
  for (const sm of ['9.1', '10.0', '10.3', '12.0']) {
    expect(plan({}, { sm }).kernel, sm).toBe(twoLaunches);
    expect(plan({ mostKeys: 1024 }, { sm }).config, sm).toMatchObject(short);
  }
  expect(plan({ mostKeys: 128 }).kernel).toBe('sparse_attention_bf16_rows');
});

test('clusters are not more than run at the same time', () => {
  const shape = { ...m3, heads: 16, kvHeads: 1, mostKeys: 2048 };
  const plan = (tokens: number) => planSparseAttention({ ...shape, tokens }, h200Limits);
  expect(plan(16).kernel).toBe('sparse_attention_bf16_cluster');
  expect(plan(17)).toMatchObject({ kernel: 'sparse_attention_bf16_pieces', pieces: 16 });
});

test('long contexts have larger pieces; rows that fill the device are not split', () => {
  const long = planPagedAttention({ ...m3, mostKeys: 2 ** 20 }, h200Limits);
  expect(long).toMatchObject({ kernel: 'paged_attention_bf16_rows', pieces: 512, pieceKeys: 2048 });
  expect(long.config.grid).toEqual([1, 4, 512]);
  const many = planSparseAttention({ ...m3, tokens: 100, mostKeys: 2048 }, h200Limits);
  expect(many).toMatchObject({ pieces: 0, pieceKeys: 0, workspaceBytes: 0 });
  expect(many.kernel).toBe('sparse_attention_bf16_rows');
  expect(many.config.grid).toEqual([100, 4, 1]);
  const small = planSparseAttention({ ...m3, tokens: 100, headDim: 64 }, h200Limits);
  expect(small.config.sharedBytes).toBe(42_256);
});

test('prefill shares keys between as many tokens as shared memory has room for', () => {
  const chunk = { ...m3, tokens: 2000 };
  expect(planPagedAttention(chunk, h200Limits)).toMatchObject({
    kernel: 'paged_attention_bf16_chunk',
    config: { grid: [250, 4], block: [256], sharedBytes: 176 * 1024 },
    pieces: 0,
  });
  const a100 = { ...h200Limits, sharedBytesPerBlockOptIn: 166_912 };
  expect(planPagedAttention(chunk, a100).config.block).toEqual([128]);
  const decode = { ...m3, tokens: 256, sequences: 256 };
  expect(planPagedAttention(decode, h200Limits).kernel).toBe('paged_attention_bf16_rows');
  expect(planSparseAttention(chunk, h200Limits).kernel).toBe('sparse_attention_bf16_rows');
});
