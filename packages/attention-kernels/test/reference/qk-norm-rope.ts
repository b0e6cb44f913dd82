// Norm and rotation in float64; only the angle is formed in fp32, as the model defines it.

/** One tensor of heads. */
export interface ReferenceHeads {
  /** [tokens, heads, dims] */
  readonly x: Float32Array;
  readonly heads: number;
  readonly dims: number;
  /** [dims]; none: not normed. */
  readonly weight?: Float32Array | undefined;
}

/** Numbers of the operation. */
export interface ReferenceRope {
  readonly positions: readonly number[];
  readonly rotaryDim: number;
  readonly theta: number;
  readonly eps: number;
}

/** [tokens, heads, dims]; padding rows are zero. */
export function referenceNormRope(input: ReferenceHeads, rope: ReferenceRope): Float64Array {
  const { x, heads, dims, weight } = input;
  const out = new Float64Array(x.length);
  for (let row = 0; row < x.length / dims; row += 1) {
    const position = rope.positions[Math.floor(row / heads)] ?? -1;
    if (position < 0) continue;
    const head = Float64Array.from(x.subarray(row * dims, (row + 1) * dims));
    if (weight) norm(head, weight, rope.eps);
    rotate(head, position, rope);
    out.set(head, row * dims);
  }
  return out;
}

function norm(head: Float64Array, weight: Float32Array, eps: number): void {
  const meanSquare = head.reduce((sum, value) => sum + value * value, 0) / head.length;
  for (const [d, value] of head.entries()) {
    head[d] = (value / Math.sqrt(meanSquare + eps)) * (1 + (weight[d] ?? 0));
  }
}

function rotate(head: Float64Array, position: number, { rotaryDim, theta }: ReferenceRope): void {
  const half = rotaryDim / 2;
  for (let i = 0; i < half; i += 1) {
    const frequency = Math.fround(theta ** ((-2 * i) / rotaryDim));
    const angle = Math.fround(Math.fround(position) * frequency);
    const [low, high] = [head[i] ?? 0, head[i + half] ?? 0];
    head[i] = low * Math.cos(angle) - high * Math.sin(angle);
    head[i + half] = high * Math.cos(angle) + low * Math.sin(angle);
  }
}
