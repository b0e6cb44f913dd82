import type { DeviceLimits, LaunchConfig } from '@altstream/cuda-runtime';
import type { PdlChooser, PdlDecision } from './pdl.js';

/** How one kernel is started; pure data. */
export interface KernelPlan {
  readonly kernel: string;
  readonly config: LaunchConfig;
  readonly pdl: PdlDecision;
  /** Scratch beyond inputs and outputs, given back once the kernel is enqueued. */
  readonly workspaceBytes: number;
}

/** What a plan decides before PDL. */
export interface KernelChoice {
  readonly kernel: string;
  /** Blocks in x. */
  readonly blocks: number;
  /** Blocks in y, default 1. */
  readonly blocksInY?: number;
  /** Threads of a block in x, y, z. */
  readonly block: readonly [x: number, y?: number, z?: number];
  /** Dynamic shared memory of a block, default 0. */
  readonly sharedBytes?: number;
  readonly tokens: number;
}

const grouped = ['mxfp8_bf16', 'mxfp8_f32', 'bf16_bf16', 'bf16_f32', 'f32_bf16', 'f32_f32']
  .concat(['shared', 'tiled', 'wgmma'].flatMap((way) => [`mxfp8_bf16_${way}`, `bf16_bf16_${way}`]))
  .flatMap((types) => [`experts_gate_up_${types}`, `experts_down_${types}`]);

/**
 * Kernels whose manifest says `pdl=waits`: all of this package. A programmatic launch of another
 * would be a race.
 */
export const waitingKernels: ReadonlySet<string> = new Set([
  'topk_f32',
  'topk_bf16',
  'topk_f32_rows',
  'topk_permute_f32',
  'permute',
  'permute_few',
  ...grouped,
  'experts_pack_mxfp8',
  'experts_pack_bf16',
  'finalize_f32',
  'finalize_bf16',
]);

/** Completes a choice with the PDL decision: the one place where the attribute is set. */
export function planKernel(
  { kernel, blocks, blocksInY = 1, block, sharedBytes = 0, tokens }: KernelChoice,
  device: DeviceLimits,
  pdl: PdlChooser,
): KernelPlan {
  const decision = pdl({ tokens, device, waits: waitingKernels.has(kernel) });
  const config: LaunchConfig = {
    grid: blocksInY > 1 ? [Math.max(1, blocks), blocksInY] : [Math.max(1, blocks)],
    block,
    ...(sharedBytes > 0 ? { sharedBytes } : {}),
    ...(decision.enabled ? { programmatic: { serialize: true } } : {}),
  };
  return { kernel, config, pdl: decision, workspaceBytes: 0 };
}

/** Whether plans are for the CPU backend, which runs a whole grid as one loop of its own. */
export function isCpu(device: DeviceLimits): boolean {
  return device.cpuLevel !== '';
}
