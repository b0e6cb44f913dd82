import type { DeviceLimits } from '@altstream/cuda-runtime';
import { isCpu, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';
import { fewPairs, planPermute } from './permute.plan.js';
import { planTopk, rowObstacle, type TopkShape } from './topk.plan.js';

/** What the choice depends on. */
export interface TopkPermuteShape extends TopkShape {
  readonly localExperts: number;
}

/** How tokens are routed and grouped. */
export interface TopkPermutePlan {
  /** `fused`: one launch; `separate`: top-k, then permute. */
  readonly path: 'fused' | 'separate';
  /** The launches in order; none without tokens. */
  readonly steps: readonly KernelPlan[];
  /** What was not taken, and why. */
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

/** Tokens that one block routes, a warp each. */
const mostTokens = 32;

// Bytes of a token in shared memory, and threads of the kernel: 128 score a token side by side, and
// one each should be left for the first row of 128 experts and the end.
const rowBytes = 1024;
const threads = { token: 128, least: 256, most: 1024 } as const;

/** Pure: same shape and device, same plan. */
export function planTopkPermute(
  shape: TopkPermuteShape,
  device: DeviceLimits,
  pdl: PdlChooser,
): TopkPermutePlan {
  const { tokens, localExperts } = shape;
  const reason = obstacleOf(shape);
  if (reason === undefined) {
    const block = Math.max(threads.least, Math.min(threads.most, tokens * threads.token));
    const choice = {
      kernel: 'topk_permute_f32',
      blocks: 1,
      block: [block],
      sharedBytes: isCpu(device) ? 0 : tokens * rowBytes,
      tokens,
    } as const;
    const steps = tokens === 0 ? [] : [planKernel(choice, device, pdl)];
    return { path: 'fused', steps, refused: [] };
  }
  const permuted = { tokens, k: shape.k + shape.shared, localExperts };
  const steps = [planTopk(shape, device, pdl), planPermute(permuted, device, pdl)];
  return { path: 'separate', steps, refused: [{ path: 'fused', reason }] };
}

function obstacleOf(shape: TopkPermuteShape): string | undefined {
  const { tokens, k, shared, localExperts } = shape;
  const pairs = tokens * (k + shared);
  if (tokens > mostTokens) return `${tokens} tokens are more than ${mostTokens}`;
  if (pairs > fewPairs.pairs) return `${pairs} pairs are more than ${fewPairs.pairs}`;
  if (localExperts > fewPairs.localExperts) {
    return `${localExperts} local experts are more than ${fewPairs.localExperts}`;
  }
  return rowObstacle(shape);
}
