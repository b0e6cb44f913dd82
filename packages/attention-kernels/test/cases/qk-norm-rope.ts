/** Shapes and positions of a step. */
export interface QkNormRopeCase {
  readonly name: string;
  readonly dtype: 'bf16' | 'f32';
  readonly weightDType: 'bf16' | 'f32';
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly rotaryDim: number;
  /** 0: no index pair. */
  readonly indexHeads: number;
  readonly indexDim: number;
  readonly positions: readonly number[];
  /** Inputs are views of one projection [tokens, q | k | v | index q | index k]. */
  readonly fused: boolean;
  /** Default true: all four weights are given. */
  readonly normed?: boolean;
}

const positions = [0, 1, 7, 89, -1, 4095, 131_071, 1_048_575];
const t32 = { heads: 8, kvHeads: 2, headDim: 32, rotaryDim: 16, indexHeads: 2, indexDim: 32 };
const m3 = { heads: 64, kvHeads: 4, headDim: 128, rotaryDim: 64, indexHeads: 4, indexDim: 128 };
const odd = { heads: 3, kvHeads: 1, headDim: 96, rotaryDim: 22, indexHeads: 1, indexDim: 37 };

/** The models' shapes in both dtypes; fused and separate inputs; positions up to 1 Mi. */
export const qkNormRopeCases: readonly QkNormRopeCase[] = (['f32', 'bf16'] as const).flatMap(
  (dtype) =>
    [
      { name: `T32, fused, ${dtype}`, dtype, weightDType: 'bf16', ...t32, positions, fused: true },
      { name: `M3, fused, ${dtype}`, dtype, weightDType: 'bf16', ...m3, positions, fused: true },
      {
        name: `M3, f32 weights, ${dtype}`,
        dtype,
        weightDType: 'f32',
        ...m3,
        positions,
        fused: false,
      },
      {
        ...{ name: `full layers: no index pair, ${dtype}`, dtype, weightDType: 'bf16', ...m3 },
        ...{ indexHeads: 0, indexDim: 0, positions, fused: true },
      },
      {
        ...{ name: `heads of 128, whole and apart, ${dtype}`, dtype, weightDType: 'bf16', ...m3 },
        ...{ heads: 5, kvHeads: 1, indexHeads: 1, rotaryDim: 128, positions, fused: false },
      },
      {
        ...{ name: `heads of 128, 16 dims turn, ${dtype}`, dtype, weightDType: 'f32', ...m3 },
        ...{ heads: 6, kvHeads: 3, indexHeads: 2, rotaryDim: 16, positions, fused: true },
      },
      {
        ...{
          name: `heads of 128, none turns, no norm, ${dtype}`,
          dtype,
          weightDType: 'bf16',
          ...m3,
        },
        ...{ heads: 2, rotaryDim: 0, positions, fused: true, normed: false },
      },
      { name: `odd sizes, ${dtype}`, dtype, weightDType: 'f32', ...odd, positions, fused: true },
      {
        ...{
          name: `no norm, ${dtype}`,
          dtype,
          weightDType: 'bf16',
          ...t32,
          positions,
          fused: false,
        },
        normed: false,
      },
      {
        ...{
          name: `whole head rotated, ${dtype}`,
          dtype,
          weightDType: 'bf16',
          ...t32,
          rotaryDim: 32,
        },
        ...{ positions, fused: false },
      },
      {
        ...{ name: `nothing rotated, ${dtype}`, dtype, weightDType: 'bf16', ...t32, rotaryDim: 0 },
        ...{ positions: [5], fused: false },
      },
    ] as const,
);
