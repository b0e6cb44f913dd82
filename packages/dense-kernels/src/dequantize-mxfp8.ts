import type { OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { planDequantizeMxfp8 } from './dequantize-mxfp8.plan.js';
import { DTypeError, ShapeError } from './errors/index.js';
import { mxfp8BlockSize } from './linear.weight.js';
import { denseKernel } from './module.js';
import type { Mxfp8Tensors } from './quantize-mxfp8.js';

/** Data type and place of the output. */
export interface DequantizeMxfp8Options extends OperationOptions {
  /** Default `bf16`. */
  readonly outDtype?: 'f32' | 'bf16' | undefined;
  /** `outDtype` `[rows, columns]`, contiguous. Made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * MXFP8 rows back to f32 or bf16: 2^(scale − 127) · element. f32 is exact, overflow of the format
 * excepted; bf16 is exact for scale bytes 3 to 246 and rounded to nearest even outside.
 *
 * @param input  e4m3 `data` `[rows, columns]`, e8m0 `scales` `[rows, columns / 32]`
 * @returns `outDtype` `[rows, columns]`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/dequantize-mxfp8.md
 */
export function dequantizeMxfp8(input: Mxfp8Tensors, options: DequantizeMxfp8Options): Tensor {
  const { data, scales } = input;
  const { stream, outDtype = 'bf16' } = options;
  const checks = checksOf('dequantizeMxfp8', stream);
  checks.tensor('data', data, {
    dtypes: ['e4m3'],
    shape: ['rows', 'columns'],
  });
  const [rows = 0, columns = 0] = data.shape;
  if (columns % mxfp8BlockSize !== 0) {
    const detail = `must have a multiple of ${mxfp8BlockSize} columns, got ${columns}.`;
    throw new ShapeError('dequantizeMxfp8', 'data', detail);
  }
  checks.tensor('scales', scales, {
    dtypes: ['e8m0'],
    shape: [rows, columns / mxfp8BlockSize],
  });
  if (outDtype !== 'f32' && outDtype !== 'bf16') {
    const detail = `must be f32 or bf16, got ${String(outDtype)}.`;
    throw new DTypeError('dequantizeMxfp8', 'outDtype', detail);
  }
  const rule = { dtype: outDtype, shape: data.shape };
  const y = outputTensor('dequantizeMxfp8', 'out', options.out, rule, options);
  if (data.elements > 0) {
    const plan = planDequantizeMxfp8({ rows, columns, y: outDtype });
    const kernel = denseKernel(stream, plan.kernel);
    stream.launch(kernel, plan.config, { data, scales, y, rows, columns });
  }
  return y;
}
