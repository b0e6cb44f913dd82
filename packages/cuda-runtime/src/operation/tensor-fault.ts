import { wrongKind } from '../arguments/faults.js';
import type { Device, Tensor } from '../contract.js';
import type { DType } from '../dtype.js';
import { checkUnchanged } from '../memory/tensor.js';

/** What an operation asks of a tensor argument. */
export interface TensorRule {
  /** The data types that it takes. */
  readonly dtypes: readonly DType[];
  /** A number per dimension; a name or null stands for any size. Left out: any shape. */
  readonly shape?: readonly (number | string | null)[];
  /**
   * `contiguous` (default): dense row-major. `rows`: every index of the first dimension is one
   * dense run; the runs may be apart, as in a view of a fused projection. `any`: not checked.
   */
  readonly layout?: 'contiguous' | 'rows' | 'any';
}

/** The first respect in which a tensor breaks its rule. */
export type TensorFault = 'device' | 'dtype' | 'shape' | 'layout';

/**
 * What is wrong with `tensor` as an argument on `device`; undefined = nothing. Makes no texts.
 * @throws ArgumentError for what is no tensor, or one that was written to
 */
export function tensorFault(
  tensor: Tensor,
  rule: TensorRule,
  device: Device,
): TensorFault | undefined {
  if (!Array.isArray(tensor?.shape)) throw wrongKind('tensorFault', 'tensor', tensor, 'a tensor');
  if (tensor.device !== device) return 'device';
  checkUnchanged(tensor);
  if (!rule.dtypes.includes(tensor.dtype)) return 'dtype';
  if (rule.shape && !hasShape(tensor, rule.shape)) return 'shape';
  return hasLayout(tensor, rule.layout ?? 'contiguous') ? undefined : 'layout';
}

function hasShape(tensor: Tensor, shape: readonly (number | string | null)[]): boolean {
  if (tensor.shape.length !== shape.length) return false;
  return shape.every((size, dim) => typeof size !== 'number' || size === tensor.shape[dim]);
}

function hasLayout(tensor: Tensor, layout: 'contiguous' | 'rows' | 'any'): boolean {
  if (layout === 'any') return true;
  return layout === 'rows' ? hasDenseRows(tensor) : tensor.isContiguous;
}

/** Whether every index of the first dimension is one dense run, and the runs do not overlap. */
function hasDenseRows(tensor: Tensor): boolean {
  if (tensor.elements === 0) return true;
  let width = 1;
  for (let dim = tensor.rank - 1; dim > 0; dim -= 1) {
    const size = tensor.shape[dim] ?? 1;
    if (size !== 1 && tensor.strides[dim] !== width) return false;
    width *= size;
  }
  return tensor.shape[0] === 1 || (tensor.strides[0] ?? 0) >= width;
}
