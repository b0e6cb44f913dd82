import type { DeviceLimits } from '@altstream/cuda-runtime';
import { isCpu, type KernelPlan, planKernel } from './kernel-plan.js';
import type { PdlChooser } from './pdl.js';

/** What the choice depends on. */
export interface TopkShape {
  readonly tokens: number;
  readonly experts: number;
  readonly k: number;
  /** Slots behind the k chosen ones. */
  readonly shared: number;
  /** Groups of experts, 1 = no grouping. */
  readonly groups: number;
  /**
   * As in the parameter struct: 0 = logit, 2 = sigmoid; others need a sum or a library function.
   */
  readonly score: number;
  /** As in the parameter struct: 3 = softmax of the chosen. */
  readonly normalize: number;
  readonly logitsDtype: 'f32' | 'bf16';
}

/** What the kernels with a row of registers a token are made for. */
export const rowLimits = { experts: 128, slots: 32 } as const;

const warpThreads = 32;
const mostWarps = 8;
const mostChosen = 32;
const cheapSharedBytes = 48 * 1024; // leaves room for other blocks
const rowWarps = 4;
const rowScores: readonly number[] = [0, 2];
const softmaxOfChosen = 3;

/**
 * Why kernels that keep a token's keys in registers do not suit; undefined if they do.
 */
export function rowObstacle(shape: TopkShape): string | undefined {
  const { experts, k, shared, groups, score, normalize, logitsDtype } = shape;
  if (logitsDtype !== 'f32') return `logits are ${logitsDtype}`;
  if (experts > rowLimits.experts) return `${experts} experts are more than ${rowLimits.experts}`;
  if (k + shared > rowLimits.slots) return `${k + shared} slots are more than ${rowLimits.slots}`;
  if (groups > 1) return 'experts are grouped';
  const isPlain = rowScores.includes(score) && normalize !== softmaxOfChosen;
  return isPlain ? undefined : 'the method has a softmax or a softplus';
}

/**
 * One warp a token. On a GPU keys stay in registers where they fit; otherwise scores and keys are
 * in shared memory of the warp's own.
 */
export function planTopk(shape: TopkShape, device: DeviceLimits, pdl: PdlChooser): KernelPlan {
  const { experts, groups, tokens } = shape;
  if (!isCpu(device) && rowObstacle(shape) === undefined) {
    const blocks = Math.ceil(tokens / rowWarps);
    const block = [rowWarps * warpThreads] as const;
    return planKernel({ kernel: 'topk_f32_rows', blocks, block, tokens }, device, pdl);
  }
  const warpBytes = 8 * ((groups > 1 ? groups : 0) + experts + mostChosen);
  const fitting = Math.max(1, Math.floor(cheapSharedBytes / warpBytes));
  const warps = isCpu(device) ? mostWarps : Math.min(mostWarps, fitting);
  const choice = {
    kernel: `topk_${shape.logitsDtype}`,
    blocks: Math.ceil(tokens / warps),
    block: [warps * warpThreads],
    sharedBytes: isCpu(device) ? 0 : warps * warpBytes,
    tokens,
  } as const;
  return planKernel(choice, device, pdl);
}
