import type { DType, Stream, Tensor, TensorAllocator } from '@altstream/cuda-runtime';
import { checkInteger, checkTensor } from './arguments/checks.js';
import { type ExpertRange, resolveExpertRange } from './arguments/expert-range.js';
import type { Permutation } from './arguments/permutation.js';
import { moeKernel } from './module.js';
import { type PdlChooser, withoutPdl } from './pdl.js';
import { maxTiles, planPermute } from './permute.plan.js';

/** Where and how the operation runs. */
export interface PermuteOptions {
  readonly stream: Stream;
  /** Of the outputs; default the stream. */
  readonly allocator?: TensorAllocator;
  /** Also list tiles of at most this many rows, for a tiled kernel. */
  readonly tileRows?: number;
  /** Programmatic launch; default never. */
  readonly pdl?: PdlChooser;
}

const operation = 'permute';

/**
 * Groups (token, slot) pairs by expert with a stable counting sort: inside an expert, token · k +
 * slot ascends. Ids that are −1, of another rank or out of range are skipped, never followed.
 *
 * @param ids [tokens, k] i32, global expert ids
 * @throws DeviceError, ShapeError, DTypeError, ArgumentRangeError, NotLoadedError
 * @see docs/permute.md
 */
export function permute(ids: Tensor, range: ExpertRange, options: PermuteOptions): Permutation {
  const { stream, tileRows = 0 } = options;
  checkTensor(operation, 'ids', ids, idsRule, stream);
  const [tokens = 0, k = 0] = ids.shape;
  const { offset, local } = resolveExpertRange(range, operation);
  if (options.tileRows !== undefined) {
    checkInteger(operation, 'tileRows', tileRows, { min: 1, max: 4096 });
  }
  const out = permuteOutputs([tokens, k], local, options);
  const plan = planPermute(
    { tokens, k, localExperts: local, hasTiles: out.tiles !== undefined },
    stream.device.limits,
    options.pdl ?? withoutPdl,
  );
  if (tokens === 0) return out;
  stream.launch(moeKernel(stream, plan.kernel), plan.config, {
    ids,
    offsets: out.offsets,
    rows: out.rows,
    slots: out.slots,
    tiles: out.tiles ?? null,
    tile_count: out.tileCount ?? null,
    tokens,
    k,
    expert_offset: offset,
    experts: local,
    tile_rows: tileRows,
    max_tiles: out.tiles?.shape[0] ?? 0,
  });
  return out;
}

const idsRule = { dtypes: ['i32'], shape: [null, null], dimensions: ['tokens', 'k'] } as const;

/** Memory for the maps of `local` experts. */
export function permuteOutputs(
  [tokens, k]: readonly [tokens: number, k: number],
  local: number,
  { stream, allocator = stream, tileRows }: PermuteOptions,
): Permutation {
  const make = (shape: readonly number[], name: string): Tensor =>
    allocator.tensor(shape, 'i32' satisfies DType, `permute.${name}`);
  const maps = {
    offsets: make([local + 1], 'offsets'),
    rows: make([tokens * k], 'rows'),
    slots: make([tokens, k], 'slots'),
  };
  if (tileRows === undefined) return maps;
  const tiles = make([maxTiles(tokens * k, local, tileRows), 3], 'tiles');
  return { ...maps, tiles, tileCount: make([1], 'tileCount') };
}
