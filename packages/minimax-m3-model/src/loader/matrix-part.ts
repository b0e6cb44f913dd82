/** Finds and checks the stored tensor of a weight before anything is read. */

import { CheckpointError } from '../errors/index.js';
import type { Range } from './shard.js';
import type { StoredDType, StoredTensor, TensorSource } from './tensor-source.js';
import { type Spelling, type Spellings, scaleNames } from './weight-names.js';

/** Elements that share a scale in MXFP8. */
export const mxBlock = 32;

/** A weight, or the part of it that a rank holds. */
export interface MatrixPart {
  readonly spellings: Spellings;
  /** Size of the whole weight. */
  readonly rows: number;
  readonly columns: number;
  /** What this rank holds; default all. */
  readonly rowRange?: Range;
  readonly columnRange?: Range;
}

/** A part with the stored tensors that have it. */
export interface FoundPart extends MatrixPart {
  readonly tensor: StoredTensor;
  /** With an F8_E4M3 tensor: its scales. */
  readonly scales: StoredTensor | undefined;
  /** Row of the flattened tensor where the weight begins. */
  readonly firstRow: number;
  readonly rowRange: Range;
  readonly columnRange: Range;
}

/**
 * The tensor of a weight, with name, type, shape and scales checked.
 *
 * @throws CheckpointError `MODEL_CHECKPOINT_TENSOR_MISSING`, `…_DTYPE`, `…_SHAPE`
 */
export function findPart(source: TensorSource, part: MatrixPart): FoundPart {
  const spelling = findSpelling(source, part.spellings);
  const tensor = source.tensors.get(spelling.name) as StoredTensor;
  expectDType(tensor, ['BF16', 'F32', 'F8_E4M3']);
  const storedRows = spelling.storedRows ?? part.rows;
  expectMatrix(tensor, storedRows, part.columns);
  return {
    ...part,
    tensor,
    scales: findScales(source, tensor, storedRows, part.columns),
    firstRow: spelling.firstRow,
    rowRange: part.rowRange ?? { start: 0, count: part.rows },
    columnRange: part.columnRange ?? { start: 0, count: part.columns },
  };
}

/** The vector of a weight, F32 or BF16. */
export function findVector(
  source: TensorSource,
  spellings: Spellings,
  length: number,
): StoredTensor {
  const { name } = findSpelling(source, spellings);
  const tensor = source.tensors.get(name) as StoredTensor;
  expectDType(tensor, ['BF16', 'F32']);
  if (tensor.shape.length === 1 && tensor.shape[0] === length) return tensor;
  throw shapeError(tensor, `[${length}]`);
}

/** True when the checkpoint has the weight under any of its names. */
export function hasWeight(source: TensorSource, spellings: Spellings): boolean {
  return spellings.some(({ name }) => source.tensors.has(name));
}

function findSpelling(source: TensorSource, spellings: Spellings): Spelling {
  const found = spellings.find(({ name }) => source.tensors.has(name));
  if (found) return found;
  const [first, ...others] = spellings.map(({ name }) => `\`${name}\``);
  const also = others.length > 0 ? ` (nor ${others.join(', ')})` : '';
  throw new CheckpointError(
    'MODEL_CHECKPOINT_TENSOR_MISSING',
    `the checkpoint has no tensor ${first}${also}; is a shard or the index of another model in the folder?`,
    { facts: { tensor: spellings[0].name, spellings: spellings.map(({ name }) => name) } },
  );
}

function findScales(
  source: TensorSource,
  tensor: StoredTensor,
  rows: number,
  columns: number,
): StoredTensor | undefined {
  const names = scaleNames(tensor.name);
  const scales = names.map((name) => source.tensors.get(name)).find((found) => found !== undefined);
  if (tensor.dtype !== 'F8_E4M3') {
    if (!scales) return undefined;
    throw dtypeError(tensor, `F8_E4M3, since \`${scales.name}\` has scales for it`);
  }
  if (!scales) {
    throw new CheckpointError(
      'MODEL_CHECKPOINT_TENSOR_MISSING',
      `\`${tensor.name}\` is F8_E4M3, but its scales \`${names[0]}\` are missing`,
      { facts: { tensor: names[0], file: tensor.file } },
    );
  }
  if (columns % mxBlock !== 0) throw shapeError(tensor, `rows of a multiple of ${mxBlock} columns`);
  expectDType(scales, ['U8', 'F8_E8M0']);
  expectMatrix(scales, rows, columns / mxBlock);
  return scales;
}

function expectDType(tensor: StoredTensor, allowed: readonly StoredDType[]): void {
  if (!allowed.includes(tensor.dtype)) throw dtypeError(tensor, allowed.join(' or '));
}

/** Accepts leading dimensions, e.g. one for the experts, as long as rows and columns agree. */
function expectMatrix(tensor: StoredTensor, rows: number, columns: number): void {
  const { shape } = tensor;
  const stored = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  if (shape.length >= 2 && stored === rows && shape.at(-1) === columns) return;
  throw shapeError(tensor, `[${rows}, ${columns}]`);
}

function dtypeError(tensor: StoredTensor, expected: string): CheckpointError {
  const { name, file, dtype } = tensor;
  return new CheckpointError(
    'MODEL_CHECKPOINT_DTYPE',
    `tensor \`${name}\` in \`${file}\` is ${dtype}, expected ${expected}`,
    { facts: { tensor: name, file, expected, received: dtype } },
  );
}

function shapeError(tensor: StoredTensor, expected: string): CheckpointError {
  const { name, file, shape } = tensor;
  return new CheckpointError(
    'MODEL_CHECKPOINT_SHAPE',
    `tensor \`${name}\` in \`${file}\` has the shape [${shape.join(', ')}], ` +
      `expected ${expected} from config.json`,
    { facts: { tensor: name, file, expected, received: shape } },
  );
}
