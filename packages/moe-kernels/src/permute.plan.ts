import type { DeviceLimits } from '@altstream/cuda-runtime';
import { isCpu, type KernelChoice, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface PermuteShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
  /** Whether tiles are listed, too; default false. */
  readonly hasTiles?: boolean;
}

/** Pairs that one thread each can place, and local experts that do not outweigh them. */
export const fewPairs = { pairs: 256, localExperts: 512 } as const;

const warpThreads = 32;
const mostWarps = 32;
const pairsOfAWarp = 128; // whose ids are on their way at once
const staticBytes = 512; // more than the kernel has

/**
 * One block: a sort of tokens × k small integers. On a GPU a thread counts what comes before its
 * own pair, as long as they are few; many are sorted by counts of each warp, one for each local
 * expert, in shared memory.
 */
export function planPermute(
  shape: PermuteShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const choice = { blocks: 1, tokens: shape.tokens };
  return planKernel({ ...choice, ...launchOf(shape, device) }, device, pdl);
}

function launchOf(
  { tokens, k, localExperts, hasTiles = false }: PermuteShape,
  device: DeviceLimits,
): Pick<KernelChoice, 'kernel' | 'block' | 'sharedBytes'> {
  const kernel = 'permute';
  if (isCpu(device)) return { kernel, block: [1024] };
  const areFew = tokens * k <= fewPairs.pairs && localExperts <= fewPairs.localExperts;
  if (areFew && !hasTiles) return { kernel: 'permute_few', block: [256] };
  const warpBytes = 4 * localExperts;
  const fitting = Math.floor((device.sharedBytesPerBlockOptIn - staticBytes) / warpBytes);
  const wanted = Math.max(4, Math.ceil((tokens * k) / pairsOfAWarp));
  const warps = Math.max(1, Math.min(mostWarps, fitting, wanted));
  return { kernel, block: [warps * warpThreads], sharedBytes: warps * warpBytes };
}

/**
 * Most tiles that `slots` rows spread over `localExperts` experts can need: every expert in use
 * may have one that is not full.
 */
export function maxTiles(slots: number, localExperts: number, tileRows: number): number {
  const used = Math.min(localExperts, slots);
  return used + Math.floor((slots - used) / tileRows);
}
