import type { OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ArgumentRangeError, ShapeError } from './errors/index.js';
import { mxfp8BlockSize } from './linear.weight.js';
import { denseKernel } from './module.js';
import { planQuantizeMxfp8 } from './quantize-mxfp8.plan.js';

/** How a block's scale follows from its largest magnitude; docs/quantize-mxfp8.md. */
export type Mxfp8ScaleMode = 'rceil' | 'floor' | 'ceil' | 'even';

/** Rounding of scales, treatment of infinities, place of the outputs. */
export interface QuantizeMxfp8Options extends OperationOptions {
  /** Default `rceil`: the smallest power of two with which nothing saturates. */
  readonly scaleMode?: Mxfp8ScaleMode | undefined;
  /**
   * Block with an infinity: `saturate` (default) keeps ±inf through scale 254, `nan` makes it NaN.
   */
  readonly infPolicy?: 'saturate' | 'nan' | undefined;
  /** Where the result goes. Made if left out. */
  readonly out?: Mxfp8Tensors | undefined;
}

/** A matrix in MXFP8. */
export interface Mxfp8Tensors {
  /** e4m3 `[rows, columns]`, contiguous. */
  readonly data: Tensor;
  /** e8m0 `[rows, columns / 32]`, contiguous, row-major. */
  readonly scales: Tensor;
}

const modes: Readonly<Record<Mxfp8ScaleMode, number>> = { rceil: 0, floor: 1, ceil: 2, even: 3 };

/**
 * Rows to MXFP8: per 32 neighbours one E8M0 scale, elements rounded to nearest even and saturated.
 * A block with a NaN gets scale 255 and elements 0x7f.
 *
 * @param input.x  f32 or bf16 `[rows, columns]`, columns a multiple of 32; rows dense, may be apart
 * @returns e4m3 `data` `[rows, columns]` and e8m0 `scales` `[rows, columns / 32]`
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError, NotLoadedError
 * @see docs/quantize-mxfp8.md
 */
export function quantizeMxfp8(
  input: { readonly x: Tensor },
  options: QuantizeMxfp8Options,
): Mxfp8Tensors {
  const { x } = input;
  const { stream } = options;
  checksOf('quantizeMxfp8', stream).tensor('x', x, {
    dtypes: ['f32', 'bf16'],
    shape: ['rows', 'columns'],
    layout: 'rows',
  });
  const [rows = 0, columns = 0] = x.shape;
  if (columns % mxfp8BlockSize !== 0) {
    const detail = `must have a multiple of ${mxfp8BlockSize} columns, got ${columns}. Pad the rows.`;
    throw new ShapeError('quantizeMxfp8', 'x', detail);
  }
  const { mode, isInfinityNan } = readChoices(options);
  const scaleShape = [rows, columns / mxfp8BlockSize];
  const data = output('out.data', options.out?.data, 'e4m3', x.shape, options);
  const scales = output('out.scales', options.out?.scales, 'e8m0', scaleShape, options);
  if (x.elements > 0) {
    const plan = planQuantizeMxfp8({ rows, columns, x: x.dtype === 'f32' ? 'f32' : 'bf16' });
    stream.launch(denseKernel(stream, plan.kernel), plan.config, {
      x,
      data,
      scales,
      x_stride: x.strides[0] ?? 0,
      rows,
      columns,
      scale_mode: mode,
      infinity_nan: isInfinityNan ? 1 : 0,
    });
  }
  return { data, scales };
}

function readChoices({ scaleMode = 'rceil', infPolicy = 'saturate' }: QuantizeMxfp8Options) {
  const mode = Object.hasOwn(modes, scaleMode) ? modes[scaleMode] : undefined;
  if (mode === undefined) {
    const detail = `must be rceil, floor, ceil or even, got ${String(scaleMode)}.`;
    throw new ArgumentRangeError('quantizeMxfp8', 'scaleMode', detail);
  }
  if (infPolicy !== 'saturate' && infPolicy !== 'nan') {
    const detail = `must be saturate or nan, got ${String(infPolicy)}.`;
    throw new ArgumentRangeError('quantizeMxfp8', 'infPolicy', detail);
  }
  return { mode, isInfinityNan: infPolicy === 'nan' };
}

function output(
  argument: string,
  given: Tensor | undefined,
  dtype: 'e4m3' | 'e8m0',
  shape: readonly number[],
  options: QuantizeMxfp8Options,
): Tensor {
  return outputTensor('quantizeMxfp8', argument, given, { dtype, shape }, options);
}
