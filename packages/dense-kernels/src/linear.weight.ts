import type { Stream, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { DTypeError, ShapeError } from './errors/index.js';

/** Elements of a row that share an MXFP8 scale. */
export const mxfp8BlockSize = 32;

/** A weight matrix: f32, bf16, or MXFP8 (E4M3 elements with one E8M0 scale per 32 of a row). */
export interface LinearWeight {
  /** f32, bf16 or e4m3 `[out, in]`, contiguous. */
  readonly data: Tensor;
  /** e8m0 `[out, in / 32]`, contiguous; given exactly when `data` is e4m3. */
  readonly scales?: Tensor | undefined;
}

/** How a weight is stored. */
export type LinearWeightKind = 'f32' | 'bf16' | 'mxfp8';

/** What a checked weight turned out to be. */
export interface LinearWeightFacts {
  readonly kind: LinearWeightKind;
  /** Columns, the reduced dimension. */
  readonly in: number;
  /** Rows, one per output. */
  readonly out: number;
}

/**
 * Checks dtype, shape, scales and device of a weight.
 *
 * @param operation  the public function to name in errors
 * @param argument   the argument to name in errors, e.g. `weight`
 * @param columns    the expected `in`
 * @throws DeviceError, DTypeError, ShapeError
 */
export function checkLinearWeight(
  operation: string,
  argument: string,
  weight: LinearWeight,
  stream: Stream,
  columns: number,
): LinearWeightFacts {
  const { data, scales } = weight;
  checksOf(operation, stream).tensor(`${argument}.data`, data, {
    dtypes: ['f32', 'bf16', 'e4m3'],
    shape: ['out', columns],
  });
  const out = data.shape[0] ?? 0;
  if (data.dtype === 'e4m3') {
    checkScales(operation, argument, scales, stream, [out, columns]);
    return { kind: 'mxfp8', in: columns, out };
  }
  if (scales) {
    const detail = `belongs to an e4m3 weight, but ${argument}.data is ${data.dtype}. Leave it out.`;
    throw new DTypeError(operation, `${argument}.scales`, detail);
  }
  return { kind: data.dtype === 'f32' ? 'f32' : 'bf16', in: columns, out };
}

function checkScales(
  operation: string,
  argument: string,
  scales: Tensor | undefined,
  stream: Stream,
  [out, columns]: readonly [number, number],
): void {
  if (columns % mxfp8BlockSize !== 0) {
    const detail = `is e4m3, whose rows must be a multiple of ${mxfp8BlockSize} long, got ${columns}.`;
    throw new ShapeError(operation, `${argument}.data`, detail);
  }
  const blocks = columns / mxfp8BlockSize;
  if (!scales) {
    const detail = `is required for an e4m3 weight: e8m0 [${out}, ${blocks}]. Pass it, or widen the weight with dequantizeMxfp8.`;
    throw new DTypeError(operation, `${argument}.scales`, detail);
  }
  checksOf(operation, stream).tensor(`${argument}.scales`, scales, {
    dtypes: ['e8m0'],
    shape: [out, blocks],
  });
}
