/** Rows to norm. */
export interface RmsNormCase {
  readonly name: string;
  readonly tokens: number;
  /** Left out: x is `[tokens, hidden]`. */
  readonly heads?: number;
  readonly hidden: number;
  readonly dtype: 'bf16' | 'f32';
  readonly weightDType: 'bf16' | 'f32';
  readonly gemma: boolean;
  readonly residual: boolean;
  /** Scale of x and residual; small ones make epsilon count, 0 makes rows of zeros. Default 3. */
  readonly scale?: number;
  /** Elements between tokens of x and y beyond the heads, as in a fused projection. */
  readonly gap?: number;
}

const variants = (['bf16', 'f32'] as const).flatMap((dtype) =>
  [true, false].map((residual) => ({ dtype, residual, gemma: true, weightDType: dtype })),
);

/** Every dtype with and without residual; no tokens, one column, odd sizes, heads, MiniMax-M3. */
export const rmsNormCases: readonly RmsNormCase[] = [
  ...variants.flatMap((variant) => {
    const name = `${variant.dtype}${variant.residual ? ' + residual' : ''}`;
    return [
      { name: `${name}, no tokens`, tokens: 0, hidden: 64, ...variant },
      { name: `${name}, one column`, tokens: 2, hidden: 1, ...variant },
      { name: `${name}, odd sizes`, tokens: 7, hidden: 77, ...variant },
      { name: `${name}, tiny`, tokens: 3, hidden: 77, scale: 1e-3, ...variant },
      { name: `${name}, zeros`, tokens: 2, hidden: 77, scale: 0, ...variant },
      { name: `${name}, heads`, tokens: 5, heads: 3, hidden: 128, ...variant },
      { name: `${name}, 6144 wide`, tokens: 33, hidden: 6144, ...variant },
      { name: `${name}, one token`, tokens: 1, hidden: 6144, ...variant },
      { name: `${name}, more than a block holds`, tokens: 2, hidden: 8200, ...variant },
    ];
  }),
  ...(
    [
      ['bf16', 'f32'],
      ['f32', 'bf16'],
    ] as const
  ).map(([dtype, weightDType]) => ({
    name: `${dtype} with ${weightDType} weight, heads of a fused projection`,
    tokens: 6,
    heads: 4,
    hidden: 40,
    gap: 56,
    dtype,
    weightDType,
    gemma: true,
    residual: false,
  })),
  ...(
    [
      ['bf16', 'f32', 0],
      ['f32', 'bf16', 0],
      ['bf16', 'bf16', 12],
      ['f32', 'f32', 6],
    ] as const
  ).map(([dtype, weightDType, gap]) => ({
    name: `${dtype} with ${weightDType} weight, tokens ${gap} apart`,
    tokens: 4,
    hidden: 1056,
    gap,
    dtype,
    weightDType,
    gemma: true,
    residual: true,
  })),
  {
    name: 'f32, plain weight',
    tokens: 3,
    hidden: 200,
    dtype: 'f32',
    weightDType: 'f32',
    gemma: false,
    residual: true,
  },
];
