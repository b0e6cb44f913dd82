import type { DeviceLimits } from '@altstream/cuda-runtime';
import { type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface PermuteShape {
  readonly tokens: number;
  readonly k: number;
  readonly localExperts: number;
}

/** One block: a counting sort of tokens × k small integers. */
export function planPermute(
  shape: PermuteShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const choice = { kernel: 'permute', blocks: 1, threads: 1024, tokens: shape.tokens };
  return planKernel(choice, device, pdl);
}

/**
 * Most tiles that `slots` rows spread over `localExperts` experts can need: every expert in use
 * may have one that is not full.
 */
export function maxTiles(slots: number, localExperts: number, tileRows: number): number {
  const used = Math.min(localExperts, slots);
  return used + Math.floor((slots - used) / tileRows);
}
