import { expect, test } from 'vitest';
import { wideCases } from '../test/cases/linear.js';
import { limits as small } from '../test/makers/fake-stream.js';
import { planCudaLinear } from './linear.cuda-plan.js';
import type { LinearShape } from './linear.shape.js';

const limits = { ...small, processors: 132 };
const dense: LinearShape = {
  tokens: 1,
  in: 6144,
  out: 6144,
  weight: 'mxfp8',
  x: 'bf16',
  y: 'bf16',
  isAligned: true,
};

test('streams weights for few tokens, a warp a slice', () => {
  const plan = planCudaLinear(dense, limits);
  expect(plan).toEqual({
    kernel: 'linear_mxfp8_bf16_bf16_stream',
    config: { grid: [384, 1], block: [128], sharedBytes: 43_456 },
    slice: 1536,
    workspaceBytes: 0,
  });
  // Eight warps, unless four bring all blocks on at once.
  const five = { ...dense, tokens: 5 };
  expect(planCudaLinear({ ...five, out: 1536 }, limits).config.block).toEqual([256]);
  expect(planCudaLinear({ ...five, out: 2560 }, limits).config.block).toEqual([256]);
  expect(planCudaLinear({ ...dense, out: 50_016 }, limits).config.block).toEqual([256]);
});

test('spreads the outputs of one or two tokens evenly, one block a multiprocessor', () => {
  const planOf = (out: number, columns: number, tokens = 1) => {
    const { kernel, config, slice } = planCudaLinear(
      { ...dense, out, in: columns, tokens },
      limits,
    );
    return [kernel.slice('linear_mxfp8_bf16_bf16'.length), config.grid, config.block, slice];
  };
  // 20 outputs a block in eight slices, 4 outputs for two warps.
  expect(planOf(2560, 6144)).toEqual(['_spread', [128, 1], [320], 768]);
  expect(planOf(1536, 6144, 2)).toEqual(['_spread', [128, 1], [192], 768]);
  // 48 outputs a block in four slices, 4 outputs a warp.
  expect(planOf(6144, 2048)).toEqual(['_spread', [128, 1], [384], 512]);
  expect(planOf(6144, 768, 2)).toEqual(['_spread', [128, 1], [384], 192]);
  expect(planOf(6144, 768, 3)[0]).toBe('_stream');
  expect(planOf(1, 32)).toEqual(['_spread', [1, 1], [32], 64]);
  expect(planOf(529, 320)).toEqual(['_spread', [67, 1], [128], 64]);
  // The longest slices, and longer ones; the most outputs, and one more.
  expect(planOf(528, 7680)).toEqual(['_spread', [132, 1], [64], 960]);
  expect(planOf(528, 7712)[0]).toBe('_stream');
  expect(planOf(4224, 512)).toEqual(['_spread', [132, 1], [512], 64]);
  expect(planOf(8448, 512)).toEqual(['_spread', [132, 1], [512], 128]);
  expect(planOf(8449, 512)[0]).toBe('_stream');
  const { config } = planCudaLinear({ ...dense, out: 2560, tokens: 2 }, limits);
  const ofWarp = 12 * 1024 + 4 * (4 * 24 + 4);
  expect(config.sharedBytes).toBe(2 * (6144 * 2 + 16) + 10 * ofWarp + 1040);
  const device = { ...limits, sharedBytesPerBlockOptIn: 101_376 };
  expect(planCudaLinear({ ...dense, out: 2560 }, device).kernel).toContain('_stream');
  expect(planCudaLinear({ ...dense, out: 2560, weight: 'bf16' }, limits).kernel).toContain(
    '_stream',
  );
});

test('has a stream kernel for 4, 8 and 16 tokens a block, with a ring that fits the device', () => {
  const device = { ...limits, sharedBytesPerBlockOptIn: 101_376 };
  const shape = { ...dense, in: 7712, out: 1536 }; // slices too long to spread
  const planOf = (tokens: number, weight: 'bf16' | 'mxfp8', of = limits) => {
    const { kernel, config } = planCudaLinear({ ...shape, tokens, weight }, of);
    return [kernel, config.grid, config.sharedBytes];
  };
  expect(planOf(1, 'mxfp8')).toEqual(['linear_mxfp8_bf16_bf16_stream', [96, 1], 84_672]);
  expect(planOf(4, 'mxfp8')).toEqual(['linear_mxfp8_bf16_bf16_stream', [96, 1], 109_632]);
  expect(planOf(8, 'mxfp8')).toEqual(['linear_mxfp8_bf16_bf16_stream_8', [96, 1], 93_760]);
  expect(planOf(16, 'mxfp8')).toEqual(['linear_mxfp8_bf16_bf16_stream_16', [96, 1], 111_168]);
  expect(planOf(17, 'mxfp8')).toEqual(['linear_mxfp8_bf16_bf16_stream_16', [96, 2], 111_168]);
  expect(planOf(1, 'bf16')).toEqual(['linear_bf16_bf16_bf16_stream', [96, 1], 71_808]);
  expect(planOf(16, 'bf16')).toEqual(['linear_bf16_bf16_bf16_stream_16', [96, 1], 102_400]);
  const small = ['linear_mxfp8_bf16_bf16_stream_8', [96, 2], 93_760];
  expect(planOf(16, 'mxfp8', device)).toEqual(small);
  expect(planOf(4, 'mxfp8', device)).toEqual(['linear_mxfp8_bf16_bf16_stream_8', [96, 1], 72_768]);
  // A slice that is shorter than the ring.
  const short = planCudaLinear({ ...dense, in: 768, tokens: 5 }, limits);
  expect(short.slice).toBe(192);
  expect(short.config.sharedBytes).toBe(4 * (3 * 1664 + 1088) + 1664 + 1088);
});

test('shares weights in tiles among many tokens, wide ones where they fill the device', () => {
  const plan = planCudaLinear({ ...dense, tokens: 40 }, limits);
  expect(plan.kernel).toBe('linear_mxfp8_bf16_bf16_tile');
  expect(plan.config).toEqual({ grid: [96, 1], block: [256], sharedBytes: 49_152 });
  const ampere = { ...limits, sm: '8.0' };
  const many = planCudaLinear({ ...dense, tokens: 1000, weight: 'bf16' }, ampere);
  expect(many.kernel).toBe('linear_bf16_bf16_bf16_wide');
  expect(many.config).toEqual({ grid: [48, 8], block: [256], sharedBytes: 131_072 });
  const little = { ...limits, sharedBytesPerBlockOptIn: 101_376 };
  const shape = { ...dense, tokens: 1000, weight: 'bf16' } as const;
  expect(planCudaLinear(shape, little).kernel).toBe('linear_bf16_bf16_bf16_tile');
});

test('has products of warpgroups for wide tiles on Hopper alone', () => {
  const shape = { ...dense, tokens: 1000 };
  const planOf = (sm: string, bytes = limits.sharedBytesPerBlockOptIn) =>
    planCudaLinear(shape, { ...limits, sm, sharedBytesPerBlockOptIn: bytes });
  expect(planOf('9.0').kernel).toBe('linear_mxfp8_bf16_bf16_wgmma');
  // The stages begin at a multiple of 1024 bytes, wherever the block's memory does.
  const config = { grid: [48, 8], block: [256], sharedBytes: 4 * (8192 + 16_384) + 1024 };
  expect(planOf('9.0').config).toEqual(config);
  expect(planOf('9.0', 99_327).kernel).toBe('linear_mxfp8_bf16_bf16_wide');
  expect(planOf('10.0').kernel).toBe('linear_mxfp8_bf16_bf16_wide');
  expect(planOf('9.0').slice).toBe(planOf('10.0').slice);
  // The parity cases of wide tiles take them.
  const kernels = wideCases.map(
    (one) => planCudaLinear({ ...one, isAligned: true }, limits).kernel,
  );
  expect(kernels.filter((kernel) => !kernel.endsWith('_wgmma'))).toEqual([]);
});

test('takes the kernel for any alignment where rows do not start at vectors', () => {
  const plan = planCudaLinear({ ...dense, tokens: 20, isAligned: false }, limits);
  expect(plan.kernel).toBe('linear_mxfp8_bf16_bf16');
  expect(plan.config).toEqual({ grid: [384, 3], block: [128] });
});

test('computes in fp32 where a side is f32', () => {
  const router = { ...dense, weight: 'f32', out: 128, y: 'f32' } as const;
  expect(planCudaLinear(router, limits)).toEqual({
    kernel: 'linear_f32_bf16_f32_few',
    config: { grid: [128, 1], block: [192], sharedBytes: 4224 + 96 * (272 + 144) },
    slice: 64,
    workspaceBytes: 0,
  });
  const batch = planCudaLinear({ ...router, tokens: 64 }, limits);
  expect(batch.kernel).toBe('linear_f32_bf16_f32_more');
  const sharedBytes = 2 * (4224 + 96 * 272) + 8 * 96 * 144;
  expect(batch.config).toEqual({ grid: [64, 8], block: [192], sharedBytes });
  const unaligned = planCudaLinear({ ...router, isAligned: false }, limits);
  expect(unaligned.kernel).toBe('linear_f32_bf16_f32');
  expect(unaligned.config).toEqual({ grid: [128, 1], block: [96] });
  const little = { ...limits, sharedBytesPerBlockOptIn: 101_376 };
  expect(planCudaLinear({ ...router, tokens: 64 }, little).kernel).toBe('linear_f32_bf16_f32');
  const prefill = planCudaLinear({ ...router, tokens: 2048 }, limits);
  expect(prefill.kernel).toBe('linear_f32_bf16_f32_tile');
  expect(prefill.config).toEqual({ grid: [2, 32], block: [256] });
});

test('cuts rows the same way for any number of tokens, in whole units of 64', () => {
  for (const weight of ['f32', 'bf16', 'mxfp8'] as const) {
    for (const columns of [1, 32, 96, 544, 1056, 6144, 20_000]) {
      for (const isAligned of [true, false]) {
        const slices = [1, 9, 33, 200, 5000].map((tokens) => {
          const shape = { ...dense, in: columns, weight, tokens, isAligned };
          const plan = planCudaLinear(shape, limits);
          const [threads = 0] = plan.config.block as readonly number[];
          expect(threads).toBeGreaterThan(0);
          expect(threads).toBeLessThanOrEqual(512);
          return plan.slice;
        });
        expect(new Set(slices).size).toBe(1);
        expect((slices[0] ?? 1) % 64).toBe(0);
      }
    }
  }
});
