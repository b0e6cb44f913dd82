import type { DeviceLimits } from '@altstream/cuda-runtime';
import { ArgumentRangeError } from '../errors/index.js';
import { planExpertsPack } from '../experts-pack.plan.js';
import { isCpu, planKernel } from '../kernel-plan.js';
import type { PdlChooser } from '../pdl.js';
import type {
  ExpertsPath,
  ExpertsPlan,
  ExpertsProjection,
  ExpertsShape,
  TensorCorePath,
} from './experts.shape.js';
import { slotsOf } from './experts.shape.js';
import { launchers, tiledBlockBytes, wgmmaBlockBytes } from './experts-launch.plan.js';

/** Mean rows of an expert from which tiles of 128 beat streaming the weights again for each 16. */
const paysFromRows = { tiled: 24, wgmma: 16 } as const;
const wgmmaSm = '9.0'; // the one architecture that has it
const wgmmaColumns = 64; // of a stage

/** @throws ArgumentRangeError when `wanted` cannot be had */
export function planExperts(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  wanted?: TensorCorePath,
): ExpertsPlan {
  const { path, refused } = choosePath(projection, shape, device);
  const obstacle = refused.find((other) => other.path === wanted && other.isHard);
  if (obstacle) {
    const problem = `path '${wanted}' cannot be had: ${obstacle.reason}`;
    throw new ArgumentRangeError(projection.kernel, problem);
  }
  const taken = path === 'cpu' ? path : (wanted ?? path);
  const choice = launchers[taken](projection, shape, device);
  return {
    ...planKernel(choice, device, pdl),
    ...(taken === 'wgmma' && packOf(projection, shape, device, pdl)),
    path: taken,
    layout: 'plain',
    refused: refused
      .filter((other) => other.path !== taken)
      .map(({ path: other, reason }) => ({ path: other, reason })),
  };
}

function packOf(
  { rows, columns }: ExpertsProjection,
  { tokens, weights }: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): Pick<ExpertsPlan, 'pack' | 'workspaceBytes'> {
  const shape = { tokens, rows, columns, weights: weights === 'mxfp8' ? weights : 'bf16' } as const;
  return { pack: planExpertsPack(shape, device, pdl), workspaceBytes: rows * columns * 2 };
}

interface Refusal {
  readonly path: ExpertsPath;
  readonly reason: string;
  /** Whether it could not be taken even if asked for. */
  readonly isHard: boolean;
}

function choosePath(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
): { readonly path: ExpertsPath; readonly refused: readonly Refusal[] } {
  if (isCpu(device)) return { path: 'cpu', refused: [] };
  const { weights, activations, localExperts } = shape;
  if (weights === 'f32' || activations === 'f32') {
    const reason = `${weights} weights with ${activations} activations do not fit bf16 tensor cores`;
    const paths = ['stream', 'tiled', 'wgmma'] as const;
    return { path: 'simt', refused: paths.map((path) => ({ path, reason, isHard: true })) };
  }
  const obstacles = {
    tiled: tiledObstacle(shape, device),
    wgmma: wgmmaObstacle(projection, shape, device),
  };
  const rows = slotsOf(shape) / Math.max(1, Math.min(localExperts, slotsOf(shape)));
  const mean = `${Number(rows.toFixed(1))} rows an expert on average`;
  const refused: Refusal[] = [];
  let path: TensorCorePath = 'stream';
  for (const tiles of ['wgmma', 'tiled'] as const) {
    const reason = obstacles[tiles];
    const from = paysFromRows[tiles];
    if (reason !== undefined) refused.push({ path: tiles, reason, isHard: true });
    else if (path !== 'stream') {
      refused.push({ path: tiles, reason: 'warpgroups multiply the same tiles', isHard: false });
    } else if (rows < from) {
      const few = `${mean}; tiles pay from ${from}`;
      refused.push({ path: tiles, reason: few, isHard: false });
    } else path = tiles;
  }
  if (path === 'stream') return { path, refused };
  const reason = `${mean}; streaming pays below ${paysFromRows[path]}`;
  return { path, refused: [{ path: 'stream', reason, isHard: false }, ...refused] };
}

function tiledObstacle(shape: ExpertsShape, device: DeviceLimits): string | undefined {
  return memoryObstacle(tiledBlockBytes(shape), device);
}

/** Why warpgroups cannot multiply; undefined: they can. */
function wgmmaObstacle(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
): string | undefined {
  const { sm } = device;
  if (sm !== wgmmaSm) return `compute capability ${sm} has no such products, ${wgmmaSm} has`;
  const { columns } = projection;
  if (columns % wgmmaColumns !== 0) return `${columns} columns are no multiple of ${wgmmaColumns}`;
  return memoryObstacle(wgmmaBlockBytes(projection, shape), device);
}

function memoryObstacle(bytes: number, device: DeviceLimits): string | undefined {
  const most = device.sharedBytesPerBlockOptIn;
  if (bytes <= most) return undefined;
  return `tiles need ${bytes} bytes of shared memory, a block may have ${most}`;
}
