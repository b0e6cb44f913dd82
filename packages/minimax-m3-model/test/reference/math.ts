/** Float64 arithmetic of the reference model, in plain loops. */

import type { ReferenceTensor } from './weights.js';

/** A row of numbers. */
export type Row = Float64Array;

/** y = x · Wᵀ */
export function project(x: ArrayLike<number>, weight: ReferenceTensor): Row {
  const [rows = 0, columns = 0] = weight.shape;
  const y = new Float64Array(rows);
  for (let r = 0; r < rows; r++) {
    let sum = 0;
    for (let c = 0; c < columns; c++) {
      sum += (x[c] as number) * (weight.values[r * columns + c] as number);
    }
    y[r] = sum;
  }
  return y;
}

/** x / rms(x) · (1 + w) */
export function gemmaNorm(x: ArrayLike<number>, weight: ReferenceTensor, eps: number): Row {
  let squares = 0;
  for (let i = 0; i < x.length; i++) squares += (x[i] as number) ** 2;
  const factor = 1 / Math.sqrt(squares / x.length + eps);
  return Float64Array.from(x, (value, i) => value * factor * (1 + (weight.values[i] as number)));
}

/**
 * Rotates the first `rotaryDim` values in half-split pairs. Angles are formed in fp32, as
 * everywhere.
 */
export function rotate(x: Row, position: number, rotaryDim: number, theta: number): Row {
  const y = x.slice();
  const half = rotaryDim / 2;
  for (let i = 0; i < half; i++) {
    const frequency = Math.fround(theta ** ((-2 * i) / rotaryDim));
    const angle = Math.fround(position * frequency);
    const [a, b] = [x[i] as number, x[i + half] as number];
    y[i] = a * Math.cos(angle) - b * Math.sin(angle);
    y[i + half] = b * Math.cos(angle) + a * Math.sin(angle);
  }
  return y;
}

/** Sum of products. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** a + b */
export function plus(a: Row, b: Row): Row {
  return a.map((value, i) => value + (b[i] as number));
}

/** Indices of the `count` largest, ties to the lower index, ascending. */
export function largest(values: ArrayLike<number>, count: number): number[] {
  const order = Array.from(values, (_, i) => i);
  order.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b);
  return order.slice(0, count).sort((a, b) => a - b);
}
