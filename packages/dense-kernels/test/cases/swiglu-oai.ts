/** Sizes, constants and layout of one activation. */
export interface SwigluOaiCase {
  readonly name: string;
  readonly tokens: number;
  readonly intermediate: number;
  readonly dtype: 'bf16' | 'f32';
  /** One tensor, gate then up; else two tensors of which gate's rows lie apart. */
  readonly packed: boolean;
  readonly alpha?: number;
  readonly beta?: number;
  readonly limit?: number;
}

/**
 * Every dtype and layout; no tokens, one, odd sizes, MiniMax-M3 (3072 and 12288), other constants.
 */
export const swigluOaiCases: readonly SwigluOaiCase[] = (['bf16', 'f32'] as const).flatMap(
  (dtype) => [
    { name: `${dtype}, no tokens`, tokens: 0, intermediate: 64, dtype, packed: true },
    { name: `${dtype}, one`, tokens: 1, intermediate: 1, dtype, packed: true },
    { name: `${dtype}, odd sizes`, tokens: 5, intermediate: 77, dtype, packed: true },
    { name: `${dtype}, gate and up apart`, tokens: 5, intermediate: 1025, dtype, packed: false },
    { name: `${dtype}, a rank's share`, tokens: 1, intermediate: 768, dtype, packed: true },
    { name: `${dtype}, fours`, tokens: 3, intermediate: 1028, dtype, packed: true },
    { name: `${dtype}, 3072 wide`, tokens: 9, intermediate: 3072, dtype, packed: true },
    { name: `${dtype}, 12288 wide`, tokens: 1, intermediate: 12_288, dtype, packed: false },
    {
      name: `${dtype}, other constants`,
      tokens: 3,
      intermediate: 50,
      dtype,
      packed: true,
      alpha: 1,
      beta: 0.25,
      limit: 2.5,
    },
    {
      name: `${dtype}, no limit`,
      tokens: 3,
      intermediate: 50,
      dtype,
      packed: false,
      alpha: 1,
      beta: 0,
      limit: Number.POSITIVE_INFINITY,
    },
  ],
);

/** [gate, up, y] for alpha 1.702, beta 1, limit 7: the vectors of the model's specification. */
export const swigluOaiVectors: readonly (readonly [number, number, number])[] = [
  [0, 0, 0],
  [1, 0, 0.84579577],
  [1, 1, 1.6915915],
  [10, 0, 6.9999533],
  [10, 10, 55.999626],
  [-1, -10, 0.9252254],
  [2, -1, 0],
  [10, -10, -41.9997188],
  [-20, 0, -3.2934103e-14],
  [-20, 3, -1.3173641e-13],
  [7, 7, 55.999625],
  [-8, -8, 5.8598573e-5],
  [100, 100, 55.999625],
];
