import type { DeviceLimits } from '@altstream/cuda-runtime';
import { ArgumentRangeError } from '../errors/index.js';
import { planExpertsPack } from '../experts-pack.plan.js';
import { isCpu, planKernel } from '../kernel-plan.js';
import type { PdlChooser } from '../pdl.js';
import type {
  ExpertsCall,
  ExpertsPath,
  ExpertsPlan,
  ExpertsProjection,
  ExpertsShape,
  TensorCorePath,
} from './experts.shape.js';
import { slotsOf } from './experts.shape.js';
import { launchers, tiledBlockBytes, wgmmaBlockBytes } from './experts-launch.plan.js';

/**
 * Mean rows of an expert from which tiles of 128 beat streaming the weights again for each 16: of
 * both projections together, as bench/results/h200-experts-versions.json has them for `wgmma`.
 */
const paysFromRows = { stream: 0, tiled: 24, wgmma: 16 } as const;
/** The fastest first, where they pay and can be had. */
const byRate = ['wgmma', 'tiled', 'stream'] as const;
const wgmmaSm = '9.0'; // the one architecture that has it
const wgmmaColumns = 64; // of a stage

/** @throws ArgumentRangeError when `path` cannot be had */
export function planExperts(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
  pdl: PdlChooser,
  { path: wanted, first = pdl }: ExpertsCall,
): ExpertsPlan {
  const { path, refused } = choosePath(projection, shape, device, wanted);
  const obstacle = refused.find((other) => other.path === wanted && other.isHard);
  if (obstacle) {
    const problem = `path '${wanted}' cannot be had: ${obstacle.reason}`;
    throw new ArgumentRangeError(projection.kernel, problem);
  }
  const choice = launchers[path](projection, shape, device);
  const hasPack = path === 'wgmma';
  return {
    ...planKernel(choice, device, hasPack ? pdl : first),
    ...(hasPack && packOf(projection, shape, device, first)),
    path,
    layout: 'plain',
    refused: refused.map(({ path: other, reason }) => ({ path: other, reason })),
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

/** The path, and those that were not taken; `wanted` among them if it cannot be had. */
function choosePath(
  projection: ExpertsProjection,
  shape: ExpertsShape,
  device: DeviceLimits,
  wanted: TensorCorePath | undefined,
): { readonly path: ExpertsPath; readonly refused: readonly Refusal[] } {
  if (isCpu(device)) return { path: 'cpu', refused: [] };
  const { weights, activations } = shape;
  if (weights === 'f32' || activations === 'f32') {
    const reason = `${weights} weights with ${activations} activations do not fit bf16 tensor cores`;
    return { path: 'simt', refused: byRate.map((path) => ({ path, reason, isHard: true })) };
  }
  const obstacles = {
    stream: undefined,
    wgmma: wgmmaObstacle(projection, shape, device),
    tiled: memoryObstacle(tiledBlockBytes(shape), device),
  };
  const rows = meanRows(shape);
  const pays = (path: TensorCorePath) => !obstacles[path] && rows >= paysFromRows[path];
  const best = byRate.find(pays) ?? 'stream';
  const path = wanted && obstacles[wanted] === undefined ? wanted : best;
  const others = byRate.filter((other) => other !== path);
  const refused = others.map((other): Refusal => {
    const obstacle = obstacles[other];
    const reason = obstacle ?? whyNot(other, { path, best, rows });
    return { path: other, reason, isHard: obstacle !== undefined };
  });
  return { path, refused };
}

interface Taken {
  readonly path: TensorCorePath;
  readonly best: TensorCorePath;
  readonly rows: number;
}

/** Why a path was not taken that could have been. */
function whyNot(other: TensorCorePath, { path, best, rows }: Taken): string {
  if (path !== best) return `path '${path}' was asked for`;
  const mean = `${Number(rows.toFixed(1))} rows an expert on average`;
  if (other === 'stream') return `${mean}; streaming pays below ${paysFromRows[path]}`;
  if (path === 'wgmma') return 'warpgroups multiply the same tiles faster';
  return `${mean}; tiles pay from ${paysFromRows[other]}`;
}

/** Rows of an expert, if all have some. */
function meanRows(shape: ExpertsShape): number {
  const slots = slotsOf(shape);
  return slots / Math.max(1, Math.min(shape.localExperts, slots));
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
  if (columns === 0 || columns % wgmmaColumns !== 0) {
    return `${columns} columns are no whole stages of ${wgmmaColumns}`;
  }
  if (shape.isAligned === false) return 'weights do not begin at a multiple of 16 bytes';
  return memoryObstacle(wgmmaBlockBytes(projection, shape), device);
}

function memoryObstacle(bytes: number, device: DeviceLimits): string | undefined {
  const most = device.sharedBytesPerBlockOptIn;
  if (bytes <= most) return undefined;
  return `tiles need ${bytes} bytes of shared memory, a block may have ${most}`;
}
