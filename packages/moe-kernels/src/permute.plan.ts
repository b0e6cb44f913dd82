import type { DeviceLimits } from '@altstream/cuda-runtime';
import { isCpu, type KernelChoice, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface PermuteShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
}

const warpThreads = 32;
const mostWarps = 32;
const pairsOfAWarp = 128; // whose ids are on their way at once
const staticBytes = 512; // more than the kernel has

/**
 * One block: a counting sort of tokens × k small integers. On a GPU each warp has counts of its own, one
 * for each local expert, in shared memory.
 */
export function planPermute(
  shape: PermuteShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const choice = { kernel: 'permute', blocks: 1, tokens: shape.tokens };
  return planKernel({ ...choice, ...blockOf(shape, device) }, device, pdl);
}

function blockOf(
  { tokens, k, localExperts }: PermuteShape,
  device: DeviceLimits,
): Pick<KernelChoice, 'block' | 'sharedBytes'> {
  if (isCpu(device)) return { block: [1024] };
  const warpBytes = 4 * localExperts;
  const fitting = Math.floor((device.sharedBytesPerBlockOptIn - staticBytes) / warpBytes);
  const wanted = Math.max(4, Math.ceil((tokens * k) / pairsOfAWarp));
  const warps = Math.max(1, Math.min(mostWarps, fitting, wanted));
  return { block: [warps * warpThreads], sharedBytes: warps * warpBytes };
}

/**
 * Most tiles that `slots` rows spread over `localExperts` experts can need: every expert in use
 * may have one that is not full.
 */
export function maxTiles(slots: number, localExperts: number, tileRows: number): number {
  const used = Math.min(localExperts, slots);
  return used + Math.floor((slots - used) / tileRows);
}
