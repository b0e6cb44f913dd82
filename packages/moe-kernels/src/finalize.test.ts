import { describe, expect, it } from 'vitest';
import { fakeStream } from '../test/makers/fake-stream.js';
import { finalize } from './finalize.js';
import { planFinalize } from './finalize.plan.js';
import { withoutPdl } from './pdl.js';

/** 3 tokens, k = 2, hidden 64. */
async function input(tokens = 3) {
  const fake = await fakeStream();
  const { tensor } = fake;
  return {
    ...fake,
    expertOut: tensor([tokens * 2, 64], 'bf16'),
    slots: tensor([tokens, 2], 'i32'),
    weights: tensor([tokens, 2], 'f32'),
  };
}

describe('finalize', () => {
  it('writes the given output and returns it (flashinfer#2703)', async () => {
    const { stream, launches, tensor, ...rest } = await input();
    const out = tensor([3, 64], 'bf16');
    expect(finalize(rest, { stream, out, scale: 2 })).toBe(out);
    expect(launches).toMatchObject([
      { kernel: 'finalize_bf16', params: { tokens: 3, k: 2, hidden: 64, settled: 0, scale: 2 } },
    ]);
    expect(launches[0]?.params['out']).toBe(out);
  });

  it('gives an empty output for no tokens and launches nothing', async () => {
    const { stream, launches, ...rest } = await input(0);
    expect(finalize(rest, { stream }).shape).toEqual([0, 64]);
    expect(launches).toEqual([]);
  });

  it('keeps its grid resident: waiting blocks must not fill a GPU (sglang#34789)', async () => {
    const { stream } = await fakeStream({ sm: '9.0', cpuLevel: '', processors: 132 });
    const never = () => ({ enabled: false, tokens: 0, limit: 0, source: 'none' }) as const;
    const shape = { tokens: 7680, hidden: 6144, dtype: 'bf16' } as const;
    const { config } = planFinalize(shape, stream.device.limits, never);
    expect(config).toMatchObject({ grid: [3, 176], block: [256] });
  });

  it('spreads few tokens over many small blocks', async () => {
    const { stream } = await fakeStream({ sm: '9.0', cpuLevel: '', processors: 132 });
    const config = (tokens: number, hidden: number, dtype: 'bf16' | 'f32') =>
      planFinalize({ tokens, hidden, dtype }, stream.device.limits, withoutPdl).config;
    expect(config(1, 6144, 'bf16')).toEqual({ grid: [12], block: [64] });
    expect(config(16, 6144, 'bf16')).toEqual({ grid: [12, 16], block: [64] });
    expect(config(16, 6144, 'f32')).toEqual({ grid: [24, 16], block: [64] });
    expect(config(44, 6144, 'bf16')).toEqual({ grid: [12, 44], block: [64] });
    expect(config(45, 6144, 'bf16')).toEqual({ grid: [3, 45], block: [256] });
    expect(config(1, 1, 'bf16')).toEqual({ grid: [1], block: [64] });
  });

  it('refuses an output over its input', async () => {
    const { stream, expertOut, slots, weights } = await input(2);
    const part = { ...expertOut, shape: [2, 64], elements: 128, bytes: 256 } as typeof expertOut;
    expect(() => finalize({ expertOut, slots, weights }, { stream, out: part })).toThrow(
      'finalize: `out` is overlapping `expertOut`, expected memory of its own',
    );
  });

  it('refuses wrong shapes, types and scales', async () => {
    const { stream, tensor, expertOut, slots, weights } = await input();
    const call = (changes: object, options: object = {}) =>
      finalize({ expertOut, slots, weights, ...changes }, { stream, ...options });
    expect(() => call({ weights: tensor([3, 2], 'bf16') })).toThrow(
      'finalize: `weights` is bf16 [3, 2], expected f32 [tokens = 3, k = 2]',
    );
    expect(() => call({ slots: tensor([4, 2], 'i32') })).toThrow('`weights` is f32 [3, 2]');
    expect(() => call({ expertOut: tensor([5, 64], 'f32') })).toThrow(
      'finalize: `expertOut` is f32 [5, 64], expected f32 or bf16 [tokens · k = 6, hidden]',
    );
    expect(() => call({}, { out: tensor([3, 64], 'f32') })).toThrow(
      'finalize: `out` is f32 [3, 64], expected bf16 [tokens = 3, hidden = 64]',
    );
    expect(() => call({}, { scale: Number.POSITIVE_INFINITY })).toThrow(
      'finalize: scale must be a finite number, got Infinity',
    );
  });
});
