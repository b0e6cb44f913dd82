/** Rows to widen: all codes with the scales of a range. */
export interface DequantizeCase {
  readonly name: string;
  readonly y: 'f32' | 'bf16';
  readonly rows: number;
  readonly columns: number;
}

/** 256 rows of 256 columns hold every pair of code and scale byte. */
export const dequantizeCases: readonly DequantizeCase[] = (['f32', 'bf16'] as const).flatMap(
  (y) => [
    { name: `every code and scale to ${y}`, y, rows: 256, columns: 256 },
    { name: `three blocks to ${y}`, y, rows: 1, columns: 96 },
    { name: `no rows to ${y}`, y, rows: 0, columns: 64 },
  ],
);
