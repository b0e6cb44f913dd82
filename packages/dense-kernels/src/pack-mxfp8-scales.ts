import type { OperationOptions, Tensor } from '@altstream/cuda-runtime';
import { checksOf } from './checks.js';
import { outputTensor } from './checks.output.js';
import { ArgumentRangeError } from './errors/index.js';
import { denseKernel } from './module.js';
import { type PackMxfp8ScalesShape, planPackMxfp8Scales } from './pack-mxfp8-scales.plan.js';

/** Place of the output. */
export interface PackMxfp8ScalesOptions extends OperationOptions {
  /** e8m0, contiguous, of the result's shape. Made if left out. */
  readonly out?: Tensor | undefined;
}

/**
 * Scales from row-major order into the 128 x 4 tiles that block-scaled matrix units read.
 * Rows are padded to 128, scales a row to 4; padding bytes are written as 0.
 *
 * @param input.scales  e8m0 `[rows, blocks]`, contiguous
 * @returns e8m0 `[ceil(rows / 128) * ceil(blocks / 4) * 512]`
 * @throws DeviceError, DTypeError, ShapeError, NotLoadedError
 * @see docs/pack-mxfp8-scales.md
 */
export function packMxfp8Scales(
  input: { readonly scales: Tensor },
  options: PackMxfp8ScalesOptions,
): Tensor {
  const { scales } = input;
  const { stream } = options;
  checksOf('packMxfp8Scales', stream).tensor('scales', scales, {
    dtypes: ['e8m0'],
    shape: ['rows', 'blocks'],
  });
  const [rows = 0, blocks = 0] = scales.shape;
  const plan = planPackMxfp8Scales({ rows, blocks });
  const rule = { dtype: 'e8m0', shape: [plan.packedBytes] } as const;
  const to = outputTensor('packMxfp8Scales', 'out', options.out, rule, options);
  if (plan.packedBytes > 0) {
    const kernel = denseKernel(stream, 'pack_mxfp8_scales');
    stream.launch(kernel, plan.config, { from: scales, to, rows, blocks });
  }
  return to;
}

/**
 * The inverse of `packMxfp8Scales`; padding is dropped.
 *
 * @param input.packed  e8m0 `[ceil(rows / 128) * ceil(blocks / 4) * 512]`
 * @param input.rows, input.blocks  shape of the result
 * @returns e8m0 `[rows, blocks]`
 * @throws DeviceError, DTypeError, ShapeError, ArgumentRangeError, NotLoadedError
 * @see docs/pack-mxfp8-scales.md
 */
export function unpackMxfp8Scales(
  input: PackMxfp8ScalesShape & { readonly packed: Tensor },
  options: PackMxfp8ScalesOptions,
): Tensor {
  const { packed, rows, blocks } = input;
  const { stream } = options;
  checkCount('rows', rows);
  checkCount('blocks', blocks);
  const plan = planPackMxfp8Scales({ rows, blocks });
  checksOf('unpackMxfp8Scales', stream).tensor('packed', packed, {
    dtypes: ['e8m0'],
    shape: [plan.packedBytes],
  });
  const rule = { dtype: 'e8m0', shape: [rows, blocks] } as const;
  const to = outputTensor('unpackMxfp8Scales', 'out', options.out, rule, options);
  if (plan.packedBytes > 0) {
    const kernel = denseKernel(stream, 'unpack_mxfp8_scales');
    stream.launch(kernel, plan.config, { from: packed, to, rows, blocks });
  }
  return to;
}

function checkCount(argument: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) return;
  const detail = `must be an integer from 0 to 2^31 - 1, got ${value}.`;
  throw new ArgumentRangeError('unpackMxfp8Scales', argument, detail);
}
