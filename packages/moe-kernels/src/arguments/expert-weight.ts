import type { Device, Tensor } from '@altstream/cuda-runtime';
import { ArgumentRangeError } from '../errors/index.js';
import { checkTensor } from './checks.js';

/** Stacked weights of the local experts. */
export interface ExpertWeight {
  /** [localExperts, rows, columns] bf16, f32, or e4m3 with `scales`. */
  readonly data: Tensor;
  /** [localExperts, rows, columns / 32] e8m0; only and always with e4m3 data. */
  readonly scales?: Tensor;
}

/** How kernels name the weight formats. */
export type WeightFormat = 'mxfp8' | 'bf16' | 'f32';

/** Elements along the reduction axis that share an MXFP8 scale. */
export const mxBlock = 32;

/** The format of checked weights. */
export function weightFormat({ data }: ExpertWeight): WeightFormat {
  if (data.dtype === 'e4m3') return 'mxfp8';
  return data.dtype === 'bf16' ? 'bf16' : 'f32';
}

/** Expected size of a weight. `columnsName` is named when it does not fit MX blocks. */
export interface WeightRule {
  readonly argument: string;
  readonly experts: number | null;
  readonly rows: number | null;
  readonly rowsName: string;
  readonly columns: number | null;
  readonly columnsName: string;
}

/**
 * Checks one stacked weight and its scales.
 *
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError
 */
export function checkExpertWeight(
  operation: string,
  { data, scales }: ExpertWeight,
  rule: WeightRule,
  place: { readonly device: Device },
): void {
  const { argument, experts, rows, rowsName, columns, columnsName } = rule;
  const shape = [experts, rows, columns];
  const dimensions = ['localExperts', rowsName, columnsName];
  const weightRule = { dtypes: ['e4m3', 'bf16', 'f32'] as const, shape, dimensions };
  checkTensor(operation, `${argument}.data`, data, weightRule, place);
  const [localExperts = 0, actualRows = 0, actualColumns = 0] = data.shape;
  if ((data.dtype === 'e4m3') !== (scales !== undefined)) {
    const problem =
      scales === undefined ? 'missing for e4m3 weights' : `given for ${data.dtype} weights`;
    throw new ArgumentRangeError(
      operation,
      `${argument}.scales is ${problem}; MXFP8 is e4m3 data with e8m0 scales`,
    );
  }
  if (scales === undefined) return;
  if (actualColumns % mxBlock !== 0) {
    const problem = `must be a multiple of the MX block ${mxBlock}, got ${actualColumns}`;
    throw new ArgumentRangeError(operation, `${columnsName} ${problem}`);
  }
  const scalesShape = [localExperts, actualRows, actualColumns / mxBlock];
  const scaleDimensions = ['localExperts', rowsName, `${columnsName} / ${mxBlock}`];
  const scalesRule = { dtypes: ['e8m0'] as const, shape: scalesShape, dimensions: scaleDimensions };
  checkTensor(operation, `${argument}.scales`, scales, scalesRule, place);
}

const vectorBytes = 16;

/** Whether the data begins at a multiple of 16 bytes of its buffer. */
export function weightIsAligned({ data }: ExpertWeight): boolean {
  return data.byteOffset % vectorBytes === 0;
}
