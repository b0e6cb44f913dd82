import { Tensor } from '@altstream/cuda-runtime';
import { ShapeError } from './errors/index.js';

/** Which columns of a projection are which heads. */
export interface HeadsPlace {
  /** First column. */
  readonly start: number;
  readonly heads: number;
  readonly headDim: number;
}

/**
 * Columns of a projection [tokens, width] as heads [tokens, heads, headDim], without a copy. So one
 * GEMM can make q, k, v and the index pair; `qkNormRope` and `kvWrite` read such views. The view
 * shares the projection's memory as one of `slice` does: dispose it, or make it of a borrowed
 * tensor.
 *
 * @throws ShapeError if the projection is not a matrix with dense rows or the columns are not in it
 */
export function headsView(projection: Tensor, { start, heads, headDim }: HeadsPlace): Tensor {
  const [tokens = 0, width = 0] = projection.shape;
  const end = start + heads * headDim;
  const isMatrix = projection.rank === 2 && (projection.strides[1] === 1 || width <= 1);
  if (!isMatrix || start < 0 || heads < 1 || headDim < 1 || end > width) {
    const detail =
      `must be a matrix with dense rows that holds columns [${start}, ${end}), ` +
      `got ${projection.describe()} with strides [${projection.strides.join(', ')}].`;
    throw new ShapeError('headsView', 'projection', detail);
  }
  const columns = projection.slice(1, start, end);
  const strides = [projection.strides[0] ?? width, headDim, 1];
  const view = Tensor.of(columns, [tokens, heads, headDim], columns.dtype, { strides });
  columns.dispose();
  return view;
}
